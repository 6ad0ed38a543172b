import { ForgeError, type Identity } from '../port.js';
import { boundedEnd } from '../waiting.js';

/** What GitHub said no with, out of whichever error its client threw. Status 0: no answer came. */
export interface Failed {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly message: string;
  /** The entries of a 422, as text. */
  readonly details: readonly string[];
}

/** Whom a failure is about. */
export interface Asking {
  readonly identity: Identity;
  /** `the GitHub App barista-review`. */
  readonly app: string;
  readonly repository: string;
  /** Where the installation is set up; null: not known yet. */
  readonly settings: string | null;
}

interface Answered {
  readonly status?: unknown;
  readonly headers?: Failed['headers'];
  readonly data?: unknown;
}

interface ClientError extends Error {
  readonly status?: unknown;
  readonly response?: Answered;
  /** GraphQL's own failures carry these beside a 200. */
  readonly headers?: Failed['headers'];
  readonly errors?: readonly { readonly type?: string; readonly message?: string }[];
}

const GRAPHQL_STATUS: Readonly<Record<string, number>> = { RATE_LIMITED: 429, FORBIDDEN: 403, INSUFFICIENT_SCOPES: 403, NOT_FOUND: 404 };

/** Reads a thrown error as an answer of GitHub's; null: it is none, but a fault of ours. */
export function failedOf(error: unknown): Failed | null {
  if (!(error instanceof Error)) return null;
  const { status, response, headers, errors, name } = error as ClientError;
  const data = bodyOf(response?.data);
  const graphql = errors ?? data.errors.filter((entry): entry is { type?: string; message?: string } => typeof entry === 'object');
  const type = graphql.find((entry) => entry.type !== undefined && entry.type in GRAPHQL_STATUS)?.type;
  if (name === 'GraphqlResponseError' || (typeof status !== 'number' && type !== undefined)) {
    const said = graphql[0]?.message ?? error.message;
    return {
      status: type === undefined ? 422 : (GRAPHQL_STATUS[type] ?? 422),
      headers: headers ?? response?.headers ?? {},
      message: said,
      details: [],
    };
  }
  if (typeof status === 'number') {
    // A 500 without a response is the client's own word for a connection that failed.
    const answered = response === undefined ? 0 : status;
    const details = data.errors.map((entry) =>
      typeof entry === 'string' ? entry : (entry.message ?? `${entry.field ?? ''} ${entry.code ?? ''}`.trim()),
    );
    return { status: answered, headers: response?.headers ?? {}, message: data.message ?? error.message, details };
  }
  return name === 'AbortError' || name === 'TimeoutError' ? { status: 0, headers: {}, message: 'it took too long', details: [] } : null;
}

type Detail = string | { readonly message?: string; readonly field?: string; readonly code?: string; readonly type?: string };

function bodyOf(data: unknown): { readonly message?: string; readonly errors: readonly Detail[] } {
  if (typeof data !== 'object' || data === null) return { errors: [] };
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  return { ...(typeof message === 'string' && { message }), errors: Array.isArray(errors) ? (errors as Detail[]) : [] };
}

/** What GitHub asks for at least after a secondary limit that names no time; it doubles with each in a row. */
const SECONDARY_MS = 60_000;
const LONGEST_MS = 15 * 60_000;

/**
 * Until when (epoch milliseconds) GitHub wants to be left alone, by its own times: `retry-after`, else the reset of an
 * used up limit, else a growing minute. null: this is no limit (not every 403 is one).
 */
export function limitedUntil(failed: Failed, now: number, inARow: number): number | null {
  const { status, headers, message } = failed;
  const tooQuick = isTooQuick(failed);
  if (status !== 403 && status !== 429 && !tooQuick) return null;
  const after = numberOf(headers['retry-after']);
  if (after !== null) return boundedEnd(now + after * 1_000, now);
  const reset = numberOf(headers['x-ratelimit-reset']);
  if (String(headers['x-ratelimit-remaining']) === '0' && reset !== null) return boundedEnd(Math.max(now, reset * 1_000) + 1_000, now);
  if (status === 429 || tooQuick || /secondary rate|abuse detection/i.test(message))
    return now + Math.min(LONGEST_MS, SECONDARY_MS * 2 ** inARow);
  return null;
}

/** GitHub's limit on writing says no as if what was written were wrong. */
export const isTooQuick = ({ status, message, details }: Failed): boolean =>
  status === 422 && [message, ...details].some((said) => /submitted too quickly/i.test(said));

function numberOf(header: string | number | undefined): number | null {
  const number = Number(header);
  return header === undefined || header === '' || !Number.isFinite(number) || number < 0 ? null : number;
}

/** How soon a passing failure is worth another try. */
const RETRY_SECONDS = 15;

/** One failure, sorted by who must act. Limits are not among them: {@link limitedUntil} comes first. */
export function explained(failed: Failed, { identity, app, repository, settings }: Asking): ForgeError {
  const { status, headers, message, details } = failed;
  const at = settings === null ? '' : ` at ${settings}`;
  const shutOut = { identity, ...(settings !== null && { mendAt: settings }) };
  if (status === 0 || status >= 500) {
    const why = status === 0 ? 'GitHub does not answer' : `GitHub answers ${status}`;
    return new ForgeError('unavailable', `${why} for ${repository}.`, numberOf(headers['retry-after']) ?? RETRY_SECONDS);
  }
  if (status === 401)
    return new ForgeError('refused', `GitHub does not take the key of ${app}: it was revoked, or it belongs to another App.`, undefined, {
      identity,
    });
  if (status === 403 && /suspended/i.test(message))
    return new ForgeError('refused', `${app} is suspended for ${repository}. Lift it${at}.`, undefined, shutOut);
  if (status === 403 && /not accessible by integration/i.test(message)) {
    const needed = headers['x-accepted-github-permissions'];
    const what =
      needed === undefined
        ? `may not do this in ${repository} (${short(message)})`
        : `lacks a permission in ${repository}: ${short(String(needed))}`;
    return new ForgeError('refused', `${app} ${what}. Accept its permissions${at}.`, undefined, { ...shutOut, partial: true });
  }
  // An archived repository, an address that is not allowed: that header names what the call takes whatever it is refused for.
  if (status === 403)
    return new ForgeError('refused', `${app} is refused this in ${repository}: ${short(message)}`, undefined, {
      identity,
      partial: true,
    });
  if (status === 404) return new ForgeError('not_found', `GitHub shows ${app} no such thing in ${repository}.`);
  if (status === 400 || status === 422) {
    return new ForgeError('invalid', `GitHub does not take it: ${short([message, ...details].filter((text) => text !== '').join('; '))}`);
  }
  return new ForgeError('refused', `GitHub answers ${status} for ${repository}: ${short(message)}`);
}

const MAX_SAID = 300;

/** Their words, on one line and never long. */
function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_SAID ? `${line.slice(0, MAX_SAID)}…` : line;
}
