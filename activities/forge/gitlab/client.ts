import PQueue from 'p-queue';
import type { z } from 'zod';
import { ForgeError, type LimitsHeard } from '../port.js';
import { waitingFor } from '../waiting.js';
import { answerError, connectionError, limitedUntil, type Asked } from './errors.js';

/** GitLab's REST API as it is used here: one request at a time in, checked shapes or {@link ForgeError} out. */
export interface GitLabClient {
  /** The address of the GitLab, `https://gitlab.com`, no slash at the end. */
  readonly base: string;
  get<T>(path: string, shape: z.ZodType<T>, query?: Query): Promise<T>;
  /** A listing page by page; leaving the loop early asks for no more. */
  pages<T>(path: string, item: z.ZodType<T>, query?: Query & { readonly per_page?: number }): AsyncGenerator<T[], void>;
  /** The headers of an answer alone. */
  head(path: string, query?: Query): Promise<Headers>;
  /** The body piece by piece; leaving the loop early ends the transfer. */
  stream(path: string, query?: Query): AsyncGenerator<Buffer, void>;
  post<T>(path: string, body: unknown, shape: z.ZodType<T>): Promise<T>;
  put<T>(path: string, body: unknown, shape: z.ZodType<T>): Promise<T>;
  delete(path: string): Promise<void>;
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface ClientOptions {
  readonly base: string;
  readonly token: () => Promise<string>;
  /** Limits that another process met. */
  readonly heard?: LimitsHeard;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly stop?: AbortSignal;
}

const TIMEOUT_MS = 60_000;
/** The largest page of anything that is asked for is far smaller. */
const MAX_JSON_BYTES = 64_000_000;
const CONCURRENCY = 6;
const MAX_HOPS = 3;

/** Path segments are escaped whole: `api\`projects/${'group/project'}\``. */
export function api(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.reduce((path, part, at) => `${path}${encodeURIComponent(values[at - 1] ?? '')}${part}`);
}

/**
 * Nothing is retried here: a call that may have worked is not repeated by somebody who cannot look, and whoever calls
 * knows when to try again. A limit GitLab named is kept to by every later call, so that no caller runs into it twice.
 */
export function createGitLabClient({ base, token, heard = () => 0, now, stop }: ClientOptions): GitLabClient {
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const root = `${base}/api/v4/`;
  /** Epoch milliseconds until which GitLab wants no call; notes have a limit of their own. */
  const closedUntil = { GET: 0, HEAD: 0, POST: 0, PUT: 0, DELETE: 0 };

  const limitOf = (method: Asked['method']) => `${base} ${method}`;

  function closed(method: Asked['method']): ForgeError {
    const limit = { name: limitOf(method), until: closedUntil[method] };
    // What is written has limits of its own: reading goes on.
    return waitingFor('GitLab', limit, now(), { identity: 'operator', partial: method !== 'GET' && method !== 'HEAD' });
  }

  async function send(
    method: Asked['method'],
    path: string,
    { query, body }: { query?: Query | undefined; body?: unknown } = {},
  ): Promise<Response> {
    const asked: Asked = { method, path };
    closedUntil[method] = Math.max(closedUntil[method], heard(limitOf(method)));
    if (closedUntil[method] > now()) throw closed(method);
    let url = new URL(`${path}${queryString(query)}`, root);
    for (let hop = 0; ; hop++) {
      const response = await request(method, url, body, asked);
      const to = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (to === null) return settle(response, asked);
      await response.body?.cancel();
      url = movedTo(url, to, method, hop);
    }
  }

  async function request(method: string, url: URL, body: unknown, asked: Asked): Promise<Response> {
    // A personal token is a bearer too; unlike GitLab's own header no HTTP client would pass this one on to another host.
    const headers: Record<string, string> = { authorization: `Bearer ${await token()}`, accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(stop ? [stop] : [])]);
    try {
      return await fetch(url, {
        method,
        headers,
        redirect: 'manual',
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw connectionError(error, base, asked);
    }
  }

  /** Only within the same API: the token is for no other place. */
  function movedTo(from: URL, to: string, method: string, hop: number): URL {
    const url = new URL(to, from);
    if ((method === 'GET' || method === 'HEAD') && hop < MAX_HOPS && url.href.startsWith(root)) return url;
    throw new ForgeError('refused', `GitLab at ${base} sends its callers to ${url.origin}: set GITLAB_URL to where it really is.`);
  }

  async function settle(response: Response, asked: Asked): Promise<Response> {
    if (response.ok) return response;
    const said = await text(response).catch(() => '');
    if (response.status !== 429) throw answerError(response, said, asked, now());
    closedUntil[asked.method] = Math.max(closedUntil[asked.method], limitedUntil(response.headers, now()));
    throw closed(asked.method);
  }

  async function text(response: Response): Promise<string> {
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of response.body ?? []) {
      size += piece.length;
      if (size > MAX_JSON_BYTES) throw new ForgeError('refused', `GitLab answered more than ${MAX_JSON_BYTES} bytes.`);
      pieces.push(Buffer.from(piece));
    }
    return Buffer.concat(pieces).toString('utf8');
  }

  async function json<T>(response: Response, shape: z.ZodType<T>, asked: Asked): Promise<T> {
    const body = await text(response).catch((error: unknown) => {
      throw error instanceof ForgeError ? error : connectionError(error, base, asked);
    });
    const read = shape.safeParse(parsed(body));
    if (read.success) return read.data;
    const where = read.error.issues[0]?.path.join('.') ?? '';
    throw new ForgeError(
      'refused',
      `${base} answered ${asked.path} in no form of GitLab's API${where === '' ? '' : ` (${where})`}: is GITLAB_URL right?`,
    );
  }

  return {
    base,
    get: (path, shape, query) => queue.add(async () => json(await send('GET', path, { query }), shape, { method: 'GET', path })),
    async *pages(path, item, query) {
      const size = query?.per_page ?? 100;
      for (let page = 1; ; page++) {
        const asked = { ...query, per_page: size, page };
        const { items, next } = await queue.add(async () => {
          const response = await send('GET', path, { query: asked });
          return { items: await json(response, item.array(), { method: 'GET', path }), next: response.headers.get('x-next-page') };
        });
        yield items;
        // The header is left out by some proxies: then a short page is the last one.
        if (next === '' || (next === null && items.length < size)) return;
      }
    },
    head: (path, query) => queue.add(async () => (await send('HEAD', path, { query })).headers),
    async *stream(path, query) {
      const response = await send('GET', path, { query });
      try {
        for await (const piece of response.body ?? []) yield Buffer.from(piece);
      } catch (error) {
        throw connectionError(error, base, { method: 'GET', path });
      }
    },
    post: (path, body, shape) => queue.add(async () => json(await send('POST', path, { body }), shape, { method: 'POST', path })),
    put: (path, body, shape) => queue.add(async () => json(await send('PUT', path, { body }), shape, { method: 'PUT', path })),
    delete: (path) =>
      queue.add(async () => {
        await (await send('DELETE', path)).body?.cancel();
      }),
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function queryString(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value as readonly string[]) search.append(`${name}[]`, one);
    else if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}
