import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createDeliveryActivities } from '../activities/deliver/index.js';
import { createActivities } from '../activities/index.js';
import type { Forge } from '../activities/forge/port.js';
import { createRoomDoor } from '../activities/room-door.js';
import type { Store } from '../prisma/store.js';
import { TASK_QUEUE } from '../workflows/messages.js';
import { createNotifier, type NotifierOptions } from './notifier.js';
import { STEP_TIME } from './step-time.js';
import { createSweeper } from './sweeper.js';
import { workflowBundle } from './workflow-bundle.js';

interface WorkerDeps {
  readonly connection: NativeConnection;
  readonly client: Client;
  readonly namespace: string;
  readonly store: Store;
  readonly forge: Forge;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Where alerts go (B29); without it they only wait to be read. */
  readonly notify?: Pick<NotifierOptions, 'url' | 'secret' | 'publicUrl'>;
}

interface RunningWorker {
  /** Settles when the worker has ended; rejects when it could not go on. */
  readonly ended: Promise<void>;
  /** Finishes what is under way, and ends. */
  stop(): Promise<void>;
}

/** Rooms kept in memory; another costs a replay when it next wakes. About 0.3 MB each. */
const CACHED_ROOMS = 2_000;

/** Takes work for rooms from Temporal, heals what dead servers left behind, and sends owners their alerts. */
export async function startWorker({ connection, client, namespace, store, forge, log, now, notify }: WorkerDeps): Promise<RunningWorker> {
  const deps = { store, forge, log, now };
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: await workflowBundle(),
    activities: {
      ...createActivities(deps),
      ...createDeliveryActivities({ ...deps, door: createRoomDoor({ client, store }) }),
    },
    maxCachedWorkflows: CACHED_ROOMS,
    // A killed worker's rooms are taken over after a second instead of ten (DESIGN 12).
    stickyQueueScheduleToStartTimeout: '1s',
    ...STEP_TIME,
  });
  const sweeper = createSweeper({ client, store, now, onError: (error) => log.warn({ err: error }, 'the sweeper could not look') });
  const notifier = notify && createNotifier({ ...notify, store, log, now });
  const running = worker.run();
  sweeper.start();
  notifier?.start();
  const ended = running.finally(() => Promise.all([sweeper.stop(), notifier?.stop()]));
  // The caller hears of it through `ended`; nobody may be listening yet.
  ended.catch(() => undefined);
  return {
    ended,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}
