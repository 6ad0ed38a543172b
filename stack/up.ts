import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { untilEarlierEnded } from './child.js';
import { StackError } from './errors.js';
import { lockDataDir } from './lock.js';
import { requireFreePort } from './ports.js';
import { startPostgres } from './postgres.js';
import { startProgram, type RunningProgram } from './programs.js';
import { announce, withdraw, type RunningStack } from './running.js';
import { ensureSearchAttributes } from './search-attributes.js';
import { startTemporal, type TemporalOptions } from './temporal.js';

export interface UpOptions {
  dataDir: string;
  /** The environment of the server and the worker; what is started here is added to it. */
  env: NodeJS.ProcessEnv;
  host: string;
  /** 0: any free port. */
  port: number;
  /** Undefined: Temporal's usual one where it is free, else any. */
  temporalUiPort?: number | undefined;
  /** Found (and fetched into the data folder) where absent. */
  temporalCliPath?: string | undefined;
  /** True: what the data folder holds from earlier is removed first. */
  fresh: boolean;
  /** Called with the database before anything else uses it: migrations, the first owner. */
  prepare(databaseUrl: string): Promise<void>;
  /** Ends a start that is under way. */
  signal: AbortSignal;
}

export interface Stack extends RunningStack {
  /** Settles with one line when a part of it ends by itself; the rest is still to be stopped. */
  failed: Promise<string>;
  /** Stops everything, whoever uses it first. Safe to call twice. */
  stop(): Promise<void>;
}

const USUAL_TEMPORAL_UI_PORT = 8233;
const READY_MS = 120_000;
/** How long a start that is given up is waited for before what it has started is stopped. */
const SETTLE_MS = 15_000;
const POLL_MS = 25;

/**
 * Everything that Barista is, in one process group on this machine: PostgreSQL and Temporal (unless DATABASE_URL or
 * TEMPORAL_ADDRESS name others), one worker, one server. Returns once it answers. A start that fails or is given up
 * leaves nothing running, and nothing outlives this process.
 * @throws StackError with the one line to print
 */
export async function startStack(options: UpOptions): Promise<Stack> {
  const { dataDir, signal } = options;
  const unlock = lockDataDir(dataDir);
  const stops: Stops = {};
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= (async () => {
      withdraw(dataDir);
      for (const part of STOP_ORDER) await stops[part]?.();
      unlock();
    })());
  const starting = startParts(options, stops);
  try {
    const parts = await Promise.race([starting, aborted(signal)]);
    const running: RunningStack = { ...parts.running, pid: process.pid };
    announce(dataDir, running);
    return { ...running, failed: parts.failed, stop };
  } catch (error) {
    // What is just being started can be stopped once it has.
    await Promise.race([starting.catch(() => {}), wait(SETTLE_MS, undefined, { ref: false })]);
    await stop();
    throw error;
  }
}

/** Whoever uses another part goes first, so that each can finish what it is doing. */
const STOP_ORDER = ['server', 'worker', 'temporal', 'postgres'] as const;
type Stops = Partial<Record<(typeof STOP_ORDER)[number], () => Promise<void>>>;

async function startParts(options: UpOptions, stops: Stops) {
  const { dataDir, env, host, port, prepare, signal, fresh } = options;
  const logOf = (part: keyof Stops) => join(dataDir, `${part}.log`);
  if (fresh) {
    for (const part of STOP_ORDER) await untilEarlierEnded(logOf(part), signal);
    empty(dataDir);
  }
  await untilEarlierEnded(logOf('server'), signal); // which has the port
  // Before anything is started: the commonest reason not to start.
  if (port !== 0) await requireFreePort(port, 'PORT', host);
  const [database, temporal] = await bothOf(
    startDatabase(options).then(async (started) => {
      stops.postgres = started.stop;
      await prepare(started.url);
      return started;
    }),
    startWorkflows(options).then((started) => {
      stops.temporal = started.stop;
      return started;
    }),
  );
  signal.throwIfAborted();
  const programEnv: NodeJS.ProcessEnv = {
    ...env,
    BARISTA_DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    HOST: host,
    PORT: String(port),
  };
  const program = async (part: 'worker' | 'server', entry: string): Promise<RunningProgram> => {
    const started = await startProgram({ title: `The ${part}`, entry, env: programEnv, logFile: logOf(part), signal });
    stops[part] = started.stop;
    return started;
  };
  const [worker, server] = await bothOf(program('worker', 'worker/main.ts'), program('server', 'mcp-server/main.ts'));
  const url = String(server.ready['url']);
  await untilReady(url, signal, logOf('server'));
  return {
    running: {
      url,
      databaseUrl: database.url,
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
      temporalUi: temporal.uiUrl ?? null,
    },
    failed: Promise.race([database.exited, temporal.exited, worker.exited, server.exited]),
  };
}

function empty(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    // Beside the lock lies what others bring along who are about to find it taken.
    if (!/^lock(\.|$)/.test(name)) rmSync(join(dataDir, name), { recursive: true, force: true });
  }
}

interface Part {
  exited: Promise<string>;
  stop(): Promise<void>;
}

/** Somebody else's server is neither watched nor stopped. */
const NOT_OURS: Part = { exited: new Promise(() => {}), stop: async () => {} };

async function startDatabase({ dataDir, env, signal }: UpOptions): Promise<Part & { url: string }> {
  if (env.DATABASE_URL) return { ...NOT_OURS, url: env.DATABASE_URL };
  return startPostgres({ dataDir, signal });
}

async function startWorkflows(options: UpOptions): Promise<Part & { address: string; namespace: string; uiUrl: string | undefined }> {
  const { dataDir, env, temporalCliPath: cliPath, signal } = options;
  if (!env.TEMPORAL_ADDRESS) {
    return startTemporal({ dataDir, signal, ...(cliPath && { cliPath }), ...uiPorts(options.temporalUiPort) });
  }
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars: definedOnly(env) });
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...connectionOptions, connectTimeout: 5_000 });
  } catch (error) {
    throw new StackError(
      `Temporal at TEMPORAL_ADDRESS=${env.TEMPORAL_ADDRESS} cannot be reached (${(error as Error).message}). Start it, or unset TEMPORAL_ADDRESS to have one started here.`,
    );
  }
  try {
    await ensureSearchAttributes(connection, namespace);
  } finally {
    await connection.close();
  }
  return { ...NOT_OURS, address: env.TEMPORAL_ADDRESS, namespace, uiUrl: undefined };
}

function uiPorts(asked: number | undefined): Pick<TemporalOptions, 'uiPort' | 'usualUiPort'> {
  if (asked === undefined) return { usualUiPort: USUAL_TEMPORAL_UI_PORT };
  return asked === 0 ? {} : { uiPort: asked };
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Both, or the first failure once neither is under way any more: what has started must be known to be stopped. */
async function bothOf<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

async function untilReady(url: string, signal: AbortSignal, logFile: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const ready = await fetch(`${url}/readyz`, { signal }).then(
      async (response) => {
        await response.body?.cancel();
        return response.ok;
      },
      () => false,
    );
    if (ready) return;
    signal.throwIfAborted();
    if (performance.now() > deadline) {
      throw new StackError(`The server at ${url} does not get ready: ${url}/readyz says what it misses. Its log is ${logFile}.`);
    }
    await wait(POLL_MS);
  }
}
