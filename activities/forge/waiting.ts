import { DateTime } from 'luxon';
import { ForgeError, type FailureFacts, type Identity, type Limit } from './port.js';

/** `12:40 UTC`: a minute at which a limit that ends at `until` (epoch milliseconds) is over. */
export function overAt(until: number): string {
  return DateTime.fromMillis(Math.ceil(until / 60_000) * 60_000, { zone: 'utc' }).toFormat("HH:mm 'UTC'");
}

/** Both forges count by the hour at most: a later end is a clock that is wrong, or a proxy's word, and is asked about before. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** Until when a limit is kept to, of the end that was named; all in epoch milliseconds. */
export const boundedEnd = (end: number, now: number): number => Math.min(end, now + LONGEST_WAIT_MS);

/** What an owner sees while a forge's limit runs. `now` in epoch milliseconds. */
export function waitingFor(
  forge: 'GitHub' | 'GitLab',
  limit: Limit,
  now: number,
  facts: { readonly identity: Identity } & Pick<FailureFacts, 'partial'>,
): ForgeError {
  return new ForgeError(
    'unavailable',
    `waiting for ${forge} until ${overAt(limit.until)} (its rate limit)`,
    Math.max(1, Math.ceil((limit.until - now) / 1_000)),
    { ...facts, limit },
  );
}
