import { DateTime } from 'luxon';
import { ForgeError, type FailureFacts, type Identity, type Limit } from './port.js';

/** What an owner sees while a forge's limit runs; the minute that is named is one at which it is over. `now` in epoch milliseconds. */
export function waitingFor(
  forge: 'GitHub' | 'GitLab',
  limit: Limit,
  now: number,
  facts: { readonly identity: Identity } & Pick<FailureFacts, 'partial'>,
): ForgeError {
  const minute = DateTime.fromMillis(Math.ceil(limit.until / 60_000) * 60_000, { zone: 'utc' });
  return new ForgeError(
    'unavailable',
    `waiting for ${forge} until ${minute.toFormat('HH:mm')} UTC (its rate limit)`,
    Math.max(1, Math.ceil((limit.until - now) / 1_000)),
    { ...facts, limit },
  );
}
