// A server of its own for a test file: real database, real Temporal, real HTTP.
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { readForgeSettings } from '../../config/forge-settings.js';
import type { TimeLimits } from '../../mcp-server/time-limits.js';
import { startServer, type RunningServer } from '../../mcp-server/server.js';
import { createStore, type Store } from '../../prisma/store.js';
import { PATIENCE } from './patience.js';
import { createDatabase, temporalAddress } from './services.js';

export interface Edge {
  readonly server: RunningServer;
  readonly store: Store;
  readonly databaseUrl: string;
  readonly owner: Person;
  stop(): Promise<void>;
}

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly key: string;
}

/** TEST_LOG=warn shows what a server says. */
export const silent = pino({ level: process.env.TEST_LOG ?? 'silent' });

/** Settings as the environment would give them, on a port that the system chooses. */
export const settings = (databaseUrl: string, localRepositories: readonly string[] = []) => ({
  port: 0,
  host: '127.0.0.1',
  publicUrl: null,
  databaseUrl,
  localRepositories,
  dataDir: tmpdir(),
  forges: readForgeSettings({}),
  notify: null,
  logLevel: 'silent' as const,
});

const { timeout } = PATIENCE;
/** A server that waits as long as a test does: on a slow machine nothing is away that is only late. */
export const PATIENT: TimeLimits = {
  head: timeout,
  ci: timeout,
  underReview: timeout,
  delivery: timeout,
  ready: timeout,
  room: timeout,
  database: timeout,
};

export async function startEdge(localRepositories: readonly string[] = []): Promise<Edge> {
  const [databaseUrl, address] = await Promise.all([createDatabase(), temporalAddress()]);
  process.env.TEMPORAL_ADDRESS = address;
  const store = createStore({ url: databaseUrl, now: () => Date.now(), poolSize: 3, patienceMs: timeout });
  const server = await startServer(settings(databaseUrl, localRepositories), silent, undefined, PATIENT);
  const owner = await addPerson(store, 'olga');
  return {
    server,
    store,
    databaseUrl,
    owner,
    async stop() {
      await server.stop();
      await store.close();
    },
  };
}

export async function addPerson(store: Store, name: string): Promise<Person> {
  const user = await store.accounts.addUser(name);
  return { ...user, key: await store.accounts.issueKey({ kind: 'person', id: user.id }) };
}

export async function addAgent(store: Store, ownerId: string, name: string): Promise<Person> {
  const agent = await store.accounts.addAgent(ownerId, name);
  return { id: agent.id, name, key: await store.accounts.issueKey({ kind: 'agent', id: agent.id }) };
}

const ACCEPT = 'application/json, text/event-stream';

/** One POST to /mcp as a client sends it; `headers` change or, with undefined, leave out what is usual. */
export function post(
  url: string,
  key: string | undefined,
  message: unknown,
  headers: Record<string, string | undefined> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const all = {
    accept: ACCEPT,
    'content-type': 'application/json',
    authorization: key === undefined ? undefined : `Bearer ${key}`,
    ...headers,
  };
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    body: typeof message === 'string' ? message : JSON.stringify(message),
    ...(signal === undefined ? {} : { signal }),
  });
}

export interface Rpc {
  readonly jsonrpc: '2.0';
  readonly id: number | string | null;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a server really answered is what is tested
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

export const request = (method: string, params: object = {}, id: number | string = 1) => ({ jsonrpc: '2.0', id, method, params });

export async function rpc(url: string, key: string, method: string, params: object = {}): Promise<Rpc> {
  return (await (await post(url, key, request(method, params))).json()) as Rpc;
}

export interface ToolAnswer {
  readonly isError: boolean;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  readonly json: any;
  readonly text: string;
  readonly structured: unknown;
}

/** Calls a tool over raw HTTP; what the one text block holds, parsed. */
export async function call(url: string, key: string, name: string, args?: unknown): Promise<ToolAnswer> {
  const answer = await rpc(url, key, 'tools/call', { name, ...(args === undefined ? {} : { arguments: args }) });
  if (answer.result === undefined) throw new Error(`not a tool result: ${JSON.stringify(answer)}`);
  const {
    content,
    isError = false,
    structuredContent,
  } = answer.result as { content: { type: string; text: string }[]; isError?: boolean; structuredContent?: unknown };
  if (content.length !== 1 || content[0]!.type !== 'text') throw new Error(`not one text block: ${JSON.stringify(content)}`);
  return { isError, json: JSON.parse(content[0]!.text), text: content[0]!.text, structured: structuredContent };
}
