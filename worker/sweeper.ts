import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { Intent, Store } from '../prisma/store.js';
import { FLUSH_SIGNAL, roomWorkflowId } from '../workflows/messages.js';

/** A sender that lives has projected long before; after this its room is asked to. */
const STALE_MS = 3_000;
/** By then every sender has given up, so that what its Update did is in the room's outbox or never comes. */
const OVER_MS = 30_000;
/** Staged texts that no event named for a day belong to calls that were refused or never came. */
const TEXT_LIFE_MS = 24 * 60 * 60_000;
/** V5: no read of CI is kept that long. */
const CI_HEARD_LIFE_MS = 60 * 60_000;
const TIDY_EVERY_MS = 60 * 60_000;
const SIGNAL_MS = 5_000;

interface SweeperOptions {
  readonly client: Client;
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly intervalMs?: number;
  /** How long at most Temporal is waited for, in milliseconds, until a room is told. */
  readonly signalMs?: number;
  /** Told of a look that failed; the next one makes up for it. */
  readonly onError: (error: unknown) => void;
}

export interface Sweeper {
  /** One look; {@link Sweeper.start} does it again and again. */
  sweep(): Promise<void>;
  start(): void;
  /** Ends after the look that is going on. */
  stop(): Promise<void>;
}

/**
 * Heals what senders left behind: an Update that a room accepted and nobody projected (its sender was killed between
 * the two) is projected by the room itself. Runs in every worker process; two of them at once do no harm.
 */
export function createSweeper({ client, store, now, intervalMs = 1_000, signalMs = SIGNAL_MS, onError }: SweeperOptions): Sweeper {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let tidiedAt: number | null = null;

  /** Signals each room once. @returns the intents whose rooms were told, or have no run that could be */
  async function flush(intents: readonly Intent[]): Promise<Intent[]> {
    const told = new Set<string>();
    for (const slug of new Set(intents.map((intent) => intent.slug))) {
      try {
        await client.withAbortSignal(AbortSignal.timeout(signalMs), () =>
          client.workflow.getHandle(roomWorkflowId(slug)).signal(FLUSH_SIGNAL),
        );
        told.add(slug);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) told.add(slug);
        else onError(error); // one room's trouble is not the others'
      }
    }
    return intents.filter((intent) => told.has(intent.slug));
  }

  async function sweep(): Promise<void> {
    await flush(await store.intents.takeStale(now() - STALE_MS));
    // A second look, for an Update that was still on its way at the first.
    const over = await flush(await store.intents.overdue(now() - OVER_MS));
    if (over.length > 0) await store.intents.remove(over.map(({ id }) => id));
    if (tidiedAt === null || now() - tidiedAt >= TIDY_EVERY_MS) {
      await store.texts.sweep(now() - TEXT_LIFE_MS);
      await store.accounts.sweepKeys();
      await store.deliveries.sweepCi(now() - CI_HEARD_LIFE_MS);
      tidiedAt = now();
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sweep().catch(onError);
      await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {}); // stopped: the condition says so
    }
  }

  return {
    sweep,
    start() {
      running ??= loop();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
