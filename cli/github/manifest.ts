import { eventsOf, permissionsOf } from '../../activities/forge/github/app-needs.js';
import type { AppRole } from '../../config/kept-app.js';

export interface ManifestOptions {
  readonly role: AppRole;
  readonly name: string;
  /** Of the GitHub that it is made on. */
  readonly webUrl: string;
  /** Without a slash at the end; null: deliveries cannot reach this server. */
  readonly publicUrl: string | null;
  readonly redirectUrl: string;
}

const webhookUrl = (publicUrl: string): string => `${publicUrl}/webhooks/github`;

/**
 * What GitHub makes the App of. Without an address for deliveries it has no webhook, and so no events: GitHub refuses
 * a webhook without a URL even where it is not active.
 */
export function manifestOf({ role, name, webUrl, publicUrl, redirectUrl }: ManifestOptions): object {
  const events = eventsOf(role);
  return {
    name,
    url: publicUrl ?? webUrl,
    redirect_url: redirectUrl,
    public: false,
    default_permissions: permissionsOf(role),
    ...(publicUrl !== null &&
      events.length > 0 && { hook_attributes: { url: webhookUrl(publicUrl), active: true }, default_events: events }),
  };
}

/** Where the form that makes an App is posted to. */
export function newAppUrl(webUrl: string, org: string | undefined, state: string): string {
  const owner = org === undefined ? '' : `/organizations/${encodeURIComponent(org)}`;
  return `${webUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`;
}
