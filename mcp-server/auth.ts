import type { Logger } from 'pino';
import type { Accounts } from '../prisma/store.js';
import type { Caller } from './deps.js';
import { problem, RETRY_AFTER_SECONDS } from './refusals.js';

/** A user key starts `bu_`, an agent key `ba_`. Longer ones are no keys of ours. */
const KEY = /^(?:bu|ba)_[A-Za-z0-9_-]{8,200}$/;

type KeyLookup = Pick<Accounts, 'callerOf'>;

/**
 * Who is calling, or the answer that says why not. The 401 names no resource metadata: there is no sign-in to be
 * sent to. A database that is away is never a 401: clients drop a good key for good on one.
 */
export async function authenticate(header: string | undefined, keys: KeyLookup, log: Logger): Promise<Caller | Response> {
  const key = header === undefined ? undefined : /^Bearer +(\S+)$/i.exec(header.trim())?.[1];
  if (key === undefined || !KEY.test(key)) {
    return unauthorized(header === undefined ? 'Send your key as `Authorization: Bearer KEY`.' : 'That is not a Barista key.');
  }
  let caller: Caller | null;
  try {
    caller = await keys.callerOf(key);
  } catch (error) {
    log.error({ err: error }, 'a key could not be looked up');
    return problem(
      503,
      { code: 'unavailable', detail: 'Keys cannot be checked just now. Yours may be good: ask again.' },
      { 'retry-after': String(RETRY_AFTER_SECONDS) },
    );
  }
  return caller ?? unauthorized('No such key. It may have been deleted with its agent.');
}

function unauthorized(detail: string): Response {
  return problem(401, { code: 'invalid_token', detail }, { 'www-authenticate': 'Bearer error="invalid_token"' });
}
