import { setMaxListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Logger } from 'pino';
import { forgeFacts } from '../activities/forge/facts.js';
import { setUpForges } from '../activities/forge/set-up.js';
import { createRoomDoor } from '../activities/room-door.js';
import { createStore } from '../prisma/store.js';
import { createApp } from './app.js';
import { Heads } from './calls/heads.js';
import { Waits } from './calls/waits.js';
import { Ci } from './calls/world.js';
import type { Deps } from './deps.js';
import { TIME_LIMITS, type TimeLimits } from './time-limits.js';
import { createTemporal } from './temporal.js';
import { sendersOf } from './webhooks/senders.js';
import { createTakeDelivery } from './webhooks/take.js';
import { addressOf, type ServerSettings } from '../config/settings.js';

export interface RunningServer {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Takes no new calls, ends waits, finishes the calls it has (10 s at the longest). Safe to call twice. */
  stop(): Promise<void>;
}

/** Longer than clients and proxies keep an idle connection: one that is closed as they use it again is a failed call. */
const KEEP_ALIVE_MS = 75_000;
/** How long calls may go on after the server was told to stop. */
const FINISH_MS = 10_000;

/**
 * One HTTP server process's whole world. It starts, and says `ready: false`, while database or Temporal are away.
 * @throws {Error} with `code` (EADDRINUSE, EACCES …) when it cannot listen
 */
export async function startServer(
  settings: ServerSettings,
  log: Logger,
  now: () => number = () => Date.now(),
  timeLimits: TimeLimits = TIME_LIMITS,
): Promise<RunningServer> {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const temporal = createTemporal({ ...connectionOptions }, namespace);
  const { client } = temporal;
  const store = createStore({
    url: settings.databaseUrl,
    now,
    ...(timeLimits.database !== undefined && { patienceMs: timeLimits.database }),
  });
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every git process listens to it
  const forge = setUpForges(settings, now, stopping.signal, { store, log });
  const door = createRoomDoor({ store, client, ...(timeLimits.room !== undefined && { patienceMs: timeLimits.room }) });
  let origins: readonly string[] = [];
  const deps: Deps = {
    store,
    door,
    forge,
    forges: forgeFacts(settings.forges),
    heads: new Heads(forge, now, timeLimits.head),
    ci: new Ci({ forge, now, store, timeLimits }),
    waits: new Waits(),
    senders: sendersOf(settings.forges),
    takeDelivery: createTakeDelivery(client, { withinMs: timeLimits.delivery }),
    log,
    now,
    timeLimits,
    ownOrigins: () => origins,
    address: () => settings.publicUrl ?? addressOf(settings.host, port),
    stopping: stopping.signal,
    temporalReady: () => temporal.ready(),
  };
  const app = createApp(deps);
  const server = createAdaptorServer({ fetch: app.fetch, hostname: settings.host }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const closeRest = async () => {
    await store.close();
    await temporal.close();
  };
  let port: number;
  try {
    port = await listen(server, settings);
  } catch (error) {
    stopping.abort();
    await closeRest();
    throw error;
  }
  origins = originsOf(settings, port);
  let stopped: Promise<void> | undefined;
  return {
    url: addressOf(settings.host, port),
    port,
    stop: () =>
      (stopped ??= (async () => {
        stopping.abort();
        await finish(server);
        await closeRest();
      })()),
  };
}

function listen(server: Server, { host, port }: ServerSettings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function finish(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle when its last call is answered, and would hold the server open.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), FINISH_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

function originsOf({ host, publicUrl }: ServerSettings, port: number): string[] {
  const local = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `http://${name}:${port}`);
  return [...new Set([...local, addressOf(host, port), ...(publicUrl === null ? [] : [new URL(publicUrl).origin])])];
}
