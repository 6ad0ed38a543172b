import type { ServerSettings } from '../../config/settings.js';
import { withStore } from '../operator.js';

/**
 * Where owners' alerts are sent, and what a receiver checks them with (B29).
 * @throws Error where the receiver does not take them
 */
export async function checkAlerts(env: NodeJS.ProcessEnv, { notify }: Pick<ServerSettings, 'notify'>): Promise<string> {
  if (notify === null) return 'sent nowhere (BARISTA_NOTIFY_URL is not set); barista watch shows them';
  return withStore(env, async ({ alerts }) => {
    const { origin } = new URL(notify.url);
    const waiting = await alerts.refused();
    if (waiting > 0) throw new Error(`${origin} has not taken ${waiting} of them yet; they are sent again`);
    const secret = notify.secret === null ? `signed with ${await alerts.secret()}` : 'signed with BARISTA_NOTIFY_SECRET';
    return `sent to ${origin}, ${secret}`;
  });
}
