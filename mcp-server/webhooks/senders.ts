import { readGitHubDelivery, verifySignature } from '../../activities/forge/github/webhooks.js';
import { webUrlOf } from '../../activities/forge/github/index.js';
import { isFromGitLab, readGitLabDelivery } from '../../activities/forge/gitlab/webhooks.js';
import type { ForgeSettings } from '../../config/forge-settings.js';
import type { Delivery } from '../../workflows/delivery/heard.js';

export interface Webhook {
  readonly headers: Headers;
  /** As it came. */
  readonly body: Buffer;
}

/** One forge that sends deliveries. */
export interface Sender {
  readonly forge: 'github' | 'gitlab';
  /** The setting that is missing, so that nothing it sends can be taken; null: none. */
  readonly missing: string | null;
  /** Whether the headers alone show that it is not from the forge, so that no body need be read. */
  readonly isForged: (headers: Headers) => boolean;
  /** Whether it is from the forge, in constant time. `now`: epoch milliseconds. */
  readonly isGenuine: (webhook: Webhook, now: number) => boolean;
  /** Only after {@link Sender.isGenuine}. */
  readonly read: (webhook: Webhook) => Delivery;
}

/** Who sends deliveries, as the settings have it. */
export function sendersOf({ github, gitlab, webhooks }: ForgeSettings): readonly Sender[] {
  const { secretToken, signingKey } = webhooks.gitlab;
  const apps = github === null ? [] : [github.app, ...(github.reviewer === null ? [] : [github.reviewer])];
  return [
    {
      forge: 'github',
      missing: webhooks.github === null ? 'GITHUB_WEBHOOK_SECRET' : github === null ? 'GITHUB_APP_ID' : null,
      isForged: (headers) => !/^sha256=[0-9a-f]{64}$/.test(headers.get('x-hub-signature-256') ?? ''),
      isGenuine: ({ headers, body }) => verifySignature(body, headers.get('x-hub-signature-256'), webhooks.github ?? ''),
      read: (webhook) =>
        readGitHubDelivery(webhook, {
          webUrl: webUrlOf(github!.apiUrl),
          ownApps: new Set(apps.map(({ id }) => id)),
          reviewerApp: github!.reviewer?.id ?? null,
        }),
    },
    {
      forge: 'gitlab',
      missing: secretToken === null && signingKey === null ? 'GITLAB_WEBHOOK_SECRET' : gitlab === null ? 'GITLAB_TOKEN' : null,
      isForged: (headers) => !headers.has(signingKey === null ? 'x-gitlab-token' : 'webhook-signature'),
      isGenuine: (webhook, now) => isFromGitLab(webhook, webhooks.gitlab, now),
      read: (webhook) => readGitLabDelivery(webhook, gitlab!.url),
    },
  ];
}
