import { ForgeError } from '../port.js';
import { boundedEnd } from '../waiting.js';

export interface Asked {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** Under `/api/v4/`; it holds no key. */
  readonly path: string;
}

/** The token is right, but may not do this. */
export class Forbidden extends ForgeError {}

/** GitLab itself, and nothing before it, failed at this very thing: the next one may work. */
export class Broken extends ForgeError {}

/** GitLab names no time at all: its limits are by the minute. */
const LIMIT_WITHOUT_TIME = 60;
const SAID = 300;

/** Every answer but 2xx and 429, by who must act. `body` is what GitLab said. */
export function answerError(response: Response, body: string, asked: Asked, now: number): ForgeError {
  const { status, headers } = response;
  const said = reasonOf(body);
  switch (status) {
    case 401:
      return new ForgeError(
        'refused',
        'GitLab refuses the token (401): it was revoked, has expired or was never one. Set a new GITLAB_TOKEN with the scope api.',
        undefined,
        { identity: 'operator' },
      );
    case 403: {
      if (!/insufficient_scope/.test(body)) return new Forbidden('refused', `GitLab forbids ${thing(asked)} (403): ${said}.`);
      const lacks = `GitLab forbids ${thing(asked)} (403): ${said}. The token lacks the scope api.`;
      return new Forbidden('refused', lacks, undefined, { identity: 'operator', partial: true });
    }
    case 404:
      return new ForgeError('not_found', `GitLab has no ${thing(asked)}, or the token may not see it (404): ${said}.`);
    case 408:
    case 409:
    case 423:
      return new ForgeError('unavailable', `GitLab could not do ${thing(asked)} just now (${status}): ${said}.`);
    case 500:
      return new Broken('unavailable', `GitLab failed at ${thing(asked)} (500).`, secondsOf(headers, now));
    default:
      if (status >= 500) return new ForgeError('unavailable', `GitLab failed at ${thing(asked)} (${status}).`, secondsOf(headers, now));
      return new ForgeError('invalid', `GitLab does not take ${thing(asked)} (${status}): ${said}.`);
  }
}

/** Until when (epoch milliseconds) GitLab takes no more calls of the kind it answered 429 to. */
export function limitedUntil(headers: Headers, now: number): number {
  return boundedEnd(now + 1_000 * (secondsOf(headers, now) ?? LIMIT_WITHOUT_TIME), now);
}

/** No answer at all. What the HTTP client throws may hold the request with its headers: only its code is told. */
export function connectionError(error: unknown, base: string, asked: Asked): ForgeError {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  const why = name === 'TimeoutError' ? 'no answer in time' : name === 'AbortError' ? 'stopped' : (cause?.code ?? 'the connection broke');
  return new ForgeError('unavailable', `${base} could not be asked for ${thing(asked)}: ${why}.`);
}

function thing({ path }: Asked): string {
  return decodeURIComponent(path.replace(/^projects\/[^/]+\//, '')).slice(0, 200);
}

/** GitLab says `message` (a text, or texts by field) or `error`. */
function reasonOf(body: string): string {
  let said: unknown = '';
  try {
    const { message, error } = JSON.parse(body) as { message?: unknown; error?: unknown };
    said = message ?? error ?? '';
  } catch {
    // A proxy's page of HTML says nothing to anybody.
  }
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return text === '' ? 'it gives no reason' : text.replaceAll(/\s+/g, ' ').replace(/\.$/, '').slice(0, SAID);
}

/** Whole seconds to wait, where the answer names them. */
function secondsOf(headers: Headers, now: number): number | undefined {
  const after = headers.get('retry-after');
  if (after !== null) {
    const seconds = /^\d+$/.test(after) ? Number(after) : Math.ceil((Date.parse(after) - now) / 1_000);
    if (Number.isFinite(seconds)) return Math.max(1, seconds);
  }
  const reset = headers.get('ratelimit-reset');
  if (headers.get('ratelimit-remaining') === '0' && reset !== null && /^\d+$/.test(reset))
    return Math.max(1, Math.ceil(Number(reset) - now / 1_000));
  return undefined;
}
