import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { lastLogLines, served, startChild, type Child, type Served } from './child.js';
import { StackError } from './errors.js';
import { freePort, isFreePort, requireFreePort } from './ports.js';
import { ensureSearchAttributes, searchAttributes } from './search-attributes.js';
import { findTemporalCli } from './temporal-binaries.js';

export interface Temporal extends Served {
  /** `host:port` of the gRPC front end. */
  address: string;
  namespace: string;
  /** Undefined where it was started without the UI. */
  uiUrl: string | undefined;
}

export interface TemporalOptions {
  /** The server keeps everything in its `temporal.db`; the log beside it is `temporal.log`. */
  dataDir: string;
  /** A free one where absent. */
  port?: number;
  uiPort?: number;
  /** Taken for the UI where it is free and `uiPort` is absent. */
  usualUiPort?: number;
  /** Default true. */
  ui?: boolean;
  /** Nothing is kept. For tests. */
  inMemory?: boolean;
  /** Found (and fetched into the data folder's `bin/`) where absent. */
  cliPath?: string;
  /** Ends a start that is under way. */
  signal?: AbortSignal;
}

const NAMESPACE = 'default';
/** A server that ends is seen at once: this is for one that hangs, on a slow machine too. */
const START_MS = 120_000;
const POLL_MS = 50;
/** For one try; each is given twice the time of the one before it. */
const CONNECT_MS = { first: 1_000, longest: 16_000 } as const;

/**
 * More updates and queries in flight a room than the server's 10 and 1: a cushion, the room's own limit holds without
 * it. Time skipping a workflow and pausing one serve demos, tests and operators.
 */
const DYNAMIC_CONFIG = [
  'history.maxInFlightUpdates=200',
  'history.MaxBufferedQueryCount=200',
  'frontend.WorkflowTimeSkippingEnabled=true',
  'frontend.WorkflowPauseEnabled=true',
];

/**
 * Starts Temporal's dev server on 127.0.0.1 and waits until it answers and knows Barista's search attributes. It ends
 * with this process, however that one ends.
 * @throws StackError for a port in use, no CLI, or a server that does not start
 */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const { dataDir, ui = true, signal } = options;
  mkdirSync(dataDir, { recursive: true });
  if (options.port !== undefined) await requireFreePort(options.port);
  if (ui && options.uiPort !== undefined) await requireFreePort(options.uiPort, 'TEMPORAL_UI_PORT');
  const cliPath = options.cliPath ?? (await findTemporalCli({ binDir: join(dataDir, 'bin'), signal }));
  const logFile = join(dataDir, 'temporal.log');
  const deadline = performance.now() + START_MS;
  for (;;) {
    const port = options.port ?? (await freePort());
    const uiPort = ui ? (options.uiPort ?? (await portForUi(options.usualUiPort))) : undefined;
    const child = await startChild({
      command: cliPath,
      args: [
        ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'warn'],
        ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
        ...(options.inMemory ? [] : ['--db-filename', join(dataDir, 'temporal.db')]),
        ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
        ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
      ],
      stopSignal: 'SIGTERM',
      logFile,
      signal,
    });
    const uiUrl = uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`;
    const address = `127.0.0.1:${port}`;
    let isReady = false;
    try {
      isReady = await untilReady(child, address, uiUrl, () => signal?.aborted || performance.now() > deadline);
    } finally {
      if (!isReady) await child.stop();
    }
    if (isReady) return { address, namespace: NAMESPACE, uiUrl, ...served(child, "Temporal's dev server", logFile) };
    signal?.throwIfAborted();
    const portTaken = readFileSync(logFile, 'utf8').includes('address already in use');
    if (!portTaken || performance.now() > deadline) {
      throw new StackError(`Temporal's dev server does not start: ${lastLogLines(logFile)}. Its log is ${logFile}.`);
    }
  }
}

async function portForUi(usual: number | undefined): Promise<number> {
  return usual !== undefined && (await isFreePort(usual)) ? usual : freePort();
}

/** False: it ended, or is given up. */
async function untilReady(child: Child, address: string, uiUrl: string | undefined, isGivenUp: () => boolean): Promise<boolean> {
  let ended = false;
  void child.exited.then(() => (ended = true));
  for (let connectTimeout: number = CONNECT_MS.first; !ended && !isGivenUp();) {
    try {
      const connection = await Connection.connect({ address, connectTimeout });
      try {
        await ensureSearchAttributes(connection, NAMESPACE);
        if (uiUrl === undefined || (await isUiOf(connection, uiUrl))) return true;
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (error instanceof StackError) throw error;
      connectTimeout = Math.min(2 * connectTimeout, CONNECT_MS.longest); // not up yet
    }
    await wait(POLL_MS);
  }
  return false;
}

/**
 * Whether what answers there is the UI of this very server. A server whose UI port went to another one answers for a
 * moment before it ends, and that one's UI answers there all the time.
 */
async function isUiOf(connection: Connection, uiUrl: string): Promise<boolean> {
  const { clusterId } = await connection.workflowService.getClusterInfo({});
  const response = await fetch(`${uiUrl}/api/v1/cluster-info`, { signal: AbortSignal.timeout(CONNECT_MS.longest) });
  return ((await response.json()) as { clusterId?: string }).clusterId === clusterId;
}
