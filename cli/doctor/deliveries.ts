import { DateTime } from 'luxon';
import type { LastDelivery } from '../../prisma/store.js';
import { isLoopbackUrl } from '../../config/loopback.js';
import { finding, type Finding } from './finding.js';

/** Reads the last delivery that came from a forge. */
export type ReadLast = (forge: 'github' | 'gitlab') => Promise<Pick<LastDelivery, 'what' | 'at'> | null>;

/** `3 minutes ago`; both in epoch milliseconds. */
export function ago(at: number, now: number): string {
  return DateTime.fromMillis(at, { locale: 'en' }).toRelative({ base: DateTime.fromMillis(now) }) ?? 'at an unknown time';
}

/** Where a forge is to send its deliveries; null: it cannot reach this server. */
export function webhookAddress(publicUrl: string | null, forge: 'github' | 'gitlab'): string | null {
  return publicUrl === null || isLoopbackUrl(publicUrl) ? null : `${publicUrl}/webhooks/${forge}`;
}

/** How a push is found by whoever is told of none. */
export const LOOKING = 'pushes are found by looking every 5 minutes';

/** Nothing is said where no database can be asked: `last` is null. */
export async function checkLastDelivery(
  title: string,
  forge: 'github' | 'gitlab',
  last: ReadLast | null,
  now: () => number,
): Promise<Finding[]> {
  if (last === null) return [];
  const check = finding(
    `last delivery from ${title}`,
    async () => {
      const came = await last(forge);
      return came === null ? 'none has come yet' : `${ago(came.at, now())}: ${came.what}`;
    },
    'It is read from the database: run barista doctor again once that one answers.',
  );
  return [await check];
}
