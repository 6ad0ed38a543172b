import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import PQueue from 'p-queue';
import { isDatabaseAway, type Store } from '../prisma/store.js';
import {
  FLUSH_SIGNAL,
  HEAD_SIGNAL,
  ROOM_WORKFLOW,
  TASK_QUEUE,
  roomWorkflowId,
  type RoomInput,
  type UpdateInput,
  type UpdateOutput,
} from '../workflows/messages.js';
import type { Command } from '../workflows/room/commands.js';
import type { HeadSeen, RoomOpened } from '../workflows/room/events.js';
import { Refusal } from '../workflows/room/refusal.js';
import type { CommandResult } from '../workflows/room/state.js';
import { failureOf } from './room-door/failures.js';
import { checkPayload } from './room-door/payload.js';
import { startOptions } from './room-door/start-options.js';

/** More than 10 in flight in one room is a meltdown, not a queue; two servers share them. */
const IN_FLIGHT = 5;
/** How long a caller is kept at most before it is told that nobody knows. */
const PATIENCE_MS = 20_000;
/** One attempt; what it missed, the next one under the same id gets. */
const ATTEMPT_MS = 10_000;
const BACKOFF_MS = { first: 50, longest: 1_000 } as const;
/** Events before the caller's own that are not in the database after so long have lost whoever should bring them. */
const FLUSH_AFTER_MS = 2_000;

/** The one way to change a room (DESIGN 10). */
export interface Door {
  /**
   * Gives the room a command. When it answers, the database has what the command did.
   * @throws {Refusal} what the room refused, or `unavailable`
   */
  send(slug: string, command: Command): Promise<CommandResult>;
  /** Starts the room's workflow; safe to repeat. When it answers, the database has the opened room. */
  open(opened: Omit<RoomOpened, 'type'>): Promise<void>;
  /** Tells the room of a head that was seen; it changes nothing the room knows already. */
  headSeen(slug: string, seen: HeadSeen): Promise<void>;
}

interface DoorOptions {
  readonly client: Client;
  readonly store: Store;
  readonly taskQueue?: string;
  /** How long a caller is kept at most, in milliseconds. */
  readonly patienceMs?: number;
}

/** The one way to change a room (DESIGN 10): few at a time, each to its end or to an honest `unavailable`. */
export function createRoomDoor({ client, store, taskQueue = TASK_QUEUE, patienceMs = PATIENCE_MS }: DoorOptions): Door {
  const queues = new Map<string, PQueue>();

  /** In order of arrival, {@link IN_FLIGHT} at a time in each room. */
  async function inTurn<T>(slug: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(slug) ?? new PQueue({ concurrency: IN_FLIGHT });
    queues.set(slug, queue);
    try {
      return await queue.add(work);
    } finally {
      if (queue.size === 0 && queue.pending === 0) queues.delete(slug);
    }
  }

  /** Temporal's answer, however often it takes; every attempt must be the same call. */
  async function persist<T>(slug: string, deadline: number, attempt: () => Promise<T>): Promise<T> {
    for (let backoff: number = BACKOFF_MS.first; ; backoff = Math.min(backoff * 2, BACKOFF_MS.longest)) {
      const left = deadline - performance.now();
      if (left <= 0) throw unavailable();
      try {
        return await client.withAbortSignal(AbortSignal.timeout(Math.ceil(Math.min(left, ATTEMPT_MS))), attempt);
      } catch (error) {
        const failure = failureOf(error);
        if (failure.kind === 'refused') throw failure.refusal;
        if (failure.kind === 'broken') throw error;
        if (failure.kind === 'gone') await expectRunning(slug);
      }
      await delay(Math.min(backoff, Math.max(0, deadline - performance.now())));
    }
  }

  /** @throws the Refusal that says why no run took the call; returns where one is running now, or may be, and may take it */
  async function expectRunning(slug: string): Promise<void> {
    const room = await store.rooms.get(slug);
    if (!room) throw noSuchRoom(slug);
    if (room.endedAt !== null) throw roomClosed();
    const status = await statusOf(slug);
    if (status === 'RUNNING' || status === 'UNHEARD') return;
    if (status === 'COMPLETED') throw roomClosed();
    throw new Refusal('unavailable', `Room ${slug} does not run. Its operator can start it again: barista room restart ${slug}`);
  }

  /** Null: it never ran. */
  async function statusOf(slug: string): Promise<string | null> {
    try {
      const description = await client.withAbortSignal(AbortSignal.timeout(ATTEMPT_MS), () =>
        client.workflow.getHandle(roomWorkflowId(slug)).describe(),
      );
      return description.status.name;
    } catch (error) {
      const { kind } = failureOf(error);
      if (kind === 'gone') return null;
      if (kind === 'again') return 'UNHEARD';
      throw error;
    }
  }

  /** Waits for `there`, which looks at the database; has the room project by itself where nobody else seems to. */
  async function untilThere(slug: string, deadline: number, there: () => Promise<true | null>): Promise<void> {
    for (;;) {
      const left = Math.max(0, deadline - performance.now());
      try {
        if (await store.bus.waitFor(slug, there, { timeoutMs: Math.min(left, FLUSH_AFTER_MS) })) return;
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
      if (performance.now() >= deadline) throw unavailable();
      await flush(slug);
    }
  }

  async function flush(slug: string): Promise<void> {
    try {
      await client.withAbortSignal(AbortSignal.timeout(FLUSH_AFTER_MS), () =>
        client.workflow.getHandle(roomWorkflowId(slug)).signal(FLUSH_SIGNAL),
      );
    } catch (error) {
      // Whoever waits looks again, and signals again, until its time is over.
      if (failureOf(error).kind === 'broken') throw error;
    }
  }

  async function send(slug: string, command: Command): Promise<CommandResult> {
    checkPayload(command);
    const deadline = performance.now() + patienceMs;
    const id = randomUUID();
    const projectedSeq = await beforeAnything(async () => {
      const seq = await store.rooms.seq(slug);
      if (seq === null) throw noSuchRoom(slug);
      await store.intents.add({ id, slug });
      return seq;
    });
    const input: UpdateInput = { command, projectedSeq };
    let output: UpdateOutput;
    try {
      output = await inTurn(slug, () =>
        persist(slug, deadline, () =>
          client.workflow
            .getHandle(roomWorkflowId(slug))
            .executeUpdate<UpdateOutput, [UpdateInput]>(command.type, { args: [input], updateId: id }),
        ),
      );
    } catch (error) {
      // Refused is done with; whatever is not known to be, the sweeper looks after.
      if (error instanceof Refusal && error.code !== 'unavailable') await forget(id);
      throw error;
    }
    const { result, seq, events } = output;
    await untilThere(slug, deadline, async () => {
      if (events.length > 0)
        return (await store.project(slug, { from: seq - events.length, events }, { intent: id })).kind === 'behind' ? null : true;
      return ((await store.rooms.seq(slug)) ?? 0) >= seq || null;
    });
    if (events.length === 0) await forget(id);
    return result;
  }

  async function forget(id: string): Promise<void> {
    try {
      await store.intents.remove([id]);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error; // else the sweeper removes it
    }
  }

  async function open(opened: Omit<RoomOpened, 'type'>): Promise<void> {
    const { slug, pullRequest } = opened;
    const deadline = performance.now() + patienceMs;
    const input: RoomInput = { kind: 'new', opened };
    try {
      await persist(slug, deadline, () =>
        client.workflow.start(ROOM_WORKFLOW, {
          ...startOptions(slug, pullRequest, 'waiting_for_crew', taskQueue),
          args: [input],
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
        }),
      );
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) throw roomClosed();
      throw error;
    }
    await untilThere(slug, deadline, async () => ((await store.rooms.seq(slug)) ?? 0) > 0 || null);
  }

  return {
    send,
    open,
    async headSeen(slug: string, seen: HeadSeen) {
      try {
        await persist(slug, performance.now() + patienceMs, () =>
          client.workflow.getHandle(roomWorkflowId(slug)).signal(HEAD_SIGNAL, seen),
        );
      } catch (error) {
        // A room that has ended has no more use for it.
        if (!(error instanceof Refusal && error.code === 'room_closed')) throw error;
      }
    },
  };
}

/** What comes before the Update: where the database is away here, nothing has happened. */
async function beforeAnything<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDatabaseAway(error))
      throw new Refusal('unavailable', 'The database cannot be reached. Nothing was stored; try again in a moment.');
    throw error;
  }
}

const noSuchRoom = (slug: string): Refusal =>
  new Refusal('not_found', `There is no room ${slug}.`, 'list_rooms names the rooms you can join.', 'room');

const roomClosed = (): Refusal => new Refusal('room_closed', 'The room has ended; it takes no more changes.');

const unavailable = (): Refusal =>
  new Refusal(
    'unavailable',
    'The room did not answer in time. It may have been stored; the same call again is safe.',
    'Call again with the same input in a few seconds.',
  );
