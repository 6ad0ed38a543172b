// Everything real: a database, a Temporal namespace, a worker, a server, and a git repository under review.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import { NativeConnection, Runtime, DefaultLogger } from '@temporalio/worker';
import { setUpForges } from '../../activities/forge/set-up.js';
import { parsePullRequest } from '../../activities/forge/pull-request.js';
import { readForgeSettings, type ForgeSettings } from '../../config/forge-settings.js';
import { startServer, type RunningServer } from '../../mcp-server/server.js';
import { createStore, type Store } from '../../prisma/store.js';
import { ensureSearchAttributes } from '../../stack/search-attributes.js';
import { startWorker } from '../../worker/worker.js';
import { connectTo } from './connect.js';
import { holdToDescription } from './documented.js';
import { GitWorld } from './git-world.js';
import { PATIENCE } from './patience.js';
import { createDatabase, temporalAddress } from './services.js';
import { addAgent, addPerson, call, settings, silent, PATIENT, type Person, type ToolAnswer } from './edge.js';

export interface World {
  readonly server: RunningServer;
  readonly databaseUrl: string;
  readonly store: Store;
  readonly git: GitWorld;
  readonly owner: Person;
  /** Another server on the same database and namespace. */
  anotherServer(): Promise<RunningServer>;
  /** A new agent of the owner, in no room yet. */
  agent(name: string): Promise<Person>;
  person(name: string): Promise<Person>;
  /** A new room on the repository; `agents` join it in order. Barista is off unless asked for. */
  room(options?: {
    recipe?: 'panel' | 'build_duel';
    barista?: boolean;
    agents?: readonly Person[];
    durations?: Record<string, string>;
  }): Promise<string>;
  /** REST as this person; the answer's JSON. */
  rest(who: Person | string | undefined, method: string, path: string, body?: unknown): Promise<RestAnswer>;
  /** A tool, by its name; fails where it is refused. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a server really answered is what is tested
  ok(who: Person, tool: string, args: object, url?: string): Promise<any>;
  /** The refusal that a tool call meets; fails where it is not refused. */
  refused(who: Person, tool: string, args: object): Promise<{ code: string; message: string; hint?: string; field?: string }>;
  stop(): Promise<void>;
}

interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  readonly json: any;
  readonly text: string;
}

const NO_FORGES = readForgeSettings({});

/** `temporal`: a server of the test's own, as `host:port`; else the run's. `notifyUrl`: where alerts go. */
export async function startWorld({
  temporal,
  notifyUrl,
  publicUrl = null,
  forges = {},
}: { temporal?: string; notifyUrl?: string; publicUrl?: string | null; forges?: Partial<ForgeSettings> } = {}): Promise<World> {
  const [databaseUrl, address] = await Promise.all([createDatabase(), temporal ?? temporalAddress()]);
  const namespace = `test-${randomUUID()}`;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const connection = await connectTo(address);
  await newNamespace(connection, namespace);
  process.env.TEMPORAL_ADDRESS = address;
  process.env.TEMPORAL_NAMESPACE = namespace;
  const now = () => Date.now();
  const git = new GitWorld();
  git.push({ 'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'export const b = 2;\n' }, 'Add a and b');
  const store = createStore({ url: databaseUrl, now, patienceMs: PATIENCE.timeout });
  const serverSettings = { ...settings(databaseUrl, [git.path]), publicUrl, forges: { ...NO_FORGES, ...forges } };
  const stopping = new AbortController();
  const forge = setUpForges(serverSettings, now, stopping.signal, { store, log: silent });
  const native = await NativeConnection.connect({ address });
  const worker = await startWorker({
    connection: native,
    client: new Client({ connection, namespace }),
    namespace,
    store,
    forge,
    log: silent,
    now,
    ...(notifyUrl !== undefined && { notify: { url: notifyUrl, secret: null, publicUrl: null } }),
  });
  const server = await startServer(serverSettings, silent, now, PATIENT);
  const others: RunningServer[] = [];
  const owner = await addPerson(store, 'olga');
  const ref = await forge.resolve(parsePullRequest(git.pullRequest));
  await store.accounts.linkRepository(owner.id, ref.forge, ref.repository);

  const rest: World['rest'] = async (who, method, path, body) => {
    const key = typeof who === 'object' ? who.key : who;
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = text === '' ? undefined : JSON.parse(text);
    holdToDescription(method, path, response.status, json);
    return { status: response.status, headers: response.headers, text, json };
  };
  const tool = (who: Person, name: string, args: object, url = server.url): Promise<ToolAnswer> => call(url, who.key, name, args);

  const ok: World['ok'] = async (who, name, args, url) => {
    const answer = await tool(who, name, args, url);
    if (answer.isError) throw new Error(`${name} was refused: ${answer.text}`);
    return answer.json;
  };

  return {
    server,
    databaseUrl,
    store,
    git,
    owner,
    rest,
    async anotherServer() {
      const other = await startServer(serverSettings, silent, now, PATIENT);
      others.push(other);
      return other;
    },
    agent: (name) => addAgent(store, owner.id, name),
    person: (name) => addPerson(store, name),
    async room({ recipe = 'panel', barista = false, agents = [], durations } = {}) {
      const opened = await rest(owner, 'POST', '/rooms', {
        pull_request: git.pullRequest,
        recipe,
        barista,
        another: true,
        ...(durations && { durations }),
      });
      if (opened.status !== 201) throw new Error(`no room: ${opened.text}`);
      for (const agent of agents) await ok(agent, 'join_room', { room: opened.json.slug });
      return opened.json.slug;
    },
    ok,
    async refused(who, name, args) {
      const answer = await tool(who, name, args);
      if (!answer.isError) throw new Error(`${name} was not refused: ${answer.text.slice(0, 500)}`);
      return answer.json.error;
    },
    async stop() {
      await Promise.all([server, ...others].map((running) => running.stop()));
      await worker.stop();
      stopping.abort();
      await store.close();
      await native.close();
      await connection.close();
      git.dispose();
    },
  };
}

/** A namespace of a test file's own, so that no other file's worker takes its rooms. */
async function newNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: 86_400 } as never });
  const deadline = performance.now() + PATIENCE.timeout;
  for (;;) {
    try {
      await ensureSearchAttributes(connection, namespace);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(PATIENCE.interval); // its parts do not know the namespace yet
    }
  }
}
