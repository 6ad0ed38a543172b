/** An answer the real one gives now and then, in place of the right one. */
export interface Fault {
  /** Matched against `GET /repos/…?…`. */
  readonly on: RegExp;
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The work is done all the same: a 502 that worked. */
  readonly works?: boolean;
  /** The connection breaks in the middle of the right answer. */
  readonly breaks?: boolean;
  /** How often; without end when absent. */
  readonly times?: number;
}

const docs = 'https://docs.github.com/rest';
const message = (text: string) => ({ message: text, documentation_url: docs });

/** GitHub's gateway gave up; with `works` the request itself went through. */
export const badGateway = (on: RegExp, { works = false, times = 1 } = {}): Fault => ({
  on,
  status: 502,
  body: message('Server Error'),
  works,
  times,
});

/** Its connection breaks in the middle of an answer that said 200. */
export const brokenAnswer = (on: RegExp, times = 1): Fault => ({ on, status: 200, body: null, works: true, breaks: true, times });

/** `retryAfter` in seconds; null: the header is missing, as it often is. */
export const secondaryLimit = (on: RegExp, retryAfter: number | null, times = 1): Fault => ({
  on,
  status: 403,
  body: message('You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'),
  headers: { 'x-ratelimit-remaining': '4000', ...(retryAfter === null ? {} : { 'retry-after': String(retryAfter) }) },
  times,
});

/** `reset`: epoch seconds. */
export const primaryLimit = (on: RegExp, reset: number, times = 1): Fault => ({
  on,
  status: 403,
  body: message('API rate limit exceeded for installation ID 1.'),
  headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
  times,
});

export const graphqlLimit = (reset: number, times = 1): Fault => ({
  on: /^POST \/graphql/,
  status: 200,
  body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for installation ID 1.' }] },
  headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
  times,
});

/** A commit that was pushed a moment ago is not on every replica yet. */
export const freshSha = (on: RegExp, times = 1): Fault => ({ on, status: 404, body: message('Not Found'), times });

/** The token was taken back, though it has not run out. */
export const revokedToken = (on: RegExp, times = 1): Fault => ({ on, status: 401, body: message('Bad credentials'), times });

/** Abuse of the diff media type: it is refused past its caps, so nothing may depend on it. */
export const DIFF_REFUSED = {
  status: 406,
  body: {
    message: 'Sorry, the diff exceeded the maximum number of lines (20000)',
    errors: [{ resource: 'PullRequest', field: 'diff', code: 'too_large' }],
    documentation_url: docs,
  },
};
