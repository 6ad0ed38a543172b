import { Octokit as Core } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';

export type Octokit = Core;

export interface ClientOptions {
  /** Without a slash at the end: `https://api.github.com`, or `https://HOST/api/v3`. */
  readonly apiUrl: string;
  readonly stop?: AbortSignal;
}

const REQUEST_MS = 20_000;
/** Every 4xx: the same again would get the same, and a limit has its own time. */
const REFUSALS = Array.from({ length: 100 }, (_, at) => 400 + at);
/** Of a read; a write is never sent again without looking (D5). */
const READ_RETRIES = 2;
/** What fails is told by whoever asked, in words of ours. */
export const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** For a person who waits: nothing is tried again. */
export function plainClient(options: ClientOptions): typeof Core {
  return Core.defaults(commonOf(options));
}

/** For an App's rooms: spread over time by throttling, reads tried again, limits left to whoever asks. */
export function roomsClient(options: ClientOptions, appId: number): typeof Core {
  // A limit is waited for by whoever asked, who can say so and be cancelled; never inside the client.
  const leave = () => false;
  return Core.plugin(retry, throttling).defaults((given: { auth?: { installationId?: number } }) => ({
    ...given,
    ...retrying(options),
    throttle: { id: `${options.apiUrl} ${appId} ${given.auth?.installationId ?? 0}`, onRateLimit: leave, onSecondaryRateLimit: leave },
  }));
}

/** The same past the throttle, with the token that `octokit` has, or gets. */
export function unthrottled(octokit: Core, options: ClientOptions): Core {
  const Client = Core.plugin(retry).defaults(retrying(options));
  return new Client({ authStrategy: () => octokit.auth });
}

function retrying(options: ClientOptions) {
  return { ...commonOf(options), retry: { retries: READ_RETRIES, doNotRetry: REFUSALS } };
}

function commonOf({ apiUrl, stop }: ClientOptions) {
  const send: typeof fetch = async (url, init) =>
    whole(await fetch(url, { ...init, signal: AbortSignal.any([AbortSignal.timeout(REQUEST_MS), ...(stop ? [stop] : [])]) }));
  return { baseUrl: apiUrl, userAgent: 'barista', log: SILENT, request: { fetch: send } };
}

const NO_BODY = [204, 205, 304];

/**
 * The client takes a body that broke off for an empty one, so that a page would be the last of its listing. Here that is
 * no answer, and neither is a page of something in between that says 200.
 */
async function whole(answer: Response): Promise<Response> {
  if (NO_BODY.includes(answer.status)) return answer;
  const body = await answer.arrayBuffer();
  if (answer.ok && !/[/+]json\b/i.test(answer.headers.get('content-type') ?? '')) throw new Error('It is no answer of GitHub.');
  return new Response(body, answer);
}
