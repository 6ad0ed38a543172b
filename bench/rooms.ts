import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import PQueue from 'p-queue';
import { createStore, type Store } from '../prisma/store.js';
import { ROOM_WORKFLOW, roomWorkflowId, type RoomInput } from '../workflows/messages.js';
import { apply } from '../workflows/room/apply.js';
import type { RoomEvent, RoomFact } from '../workflows/room/events.js';
import { DEFAULT_DURATIONS, type RoomState } from '../workflows/room/state.js';
import { percentiles, type Row } from './measure.js';

export interface RoomsOptions {
  readonly temporal: Client;
  readonly temporalAddress: string;
  readonly databaseUrl: string;
  readonly count: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Rooms are started so many at a time. */
const AT_ONCE = 8;
/** Rooms that are started first, and neither weighed nor timed. */
const WARM = 50;
/** Fewer weigh less than what a process holds one moment and not the next. */
const WEIGHABLE = 500;
/** A reminder is looked at a second after its moment (B9, DESIGN 2). */
const READ_LAG = 1_000;

/**
 * Many living rooms on a forge where nothing moves: what each costs a worker's memory, and how late their reminders
 * come when all are due at one moment.
 */
export async function roomsRows({ temporal, temporalAddress, databaseUrl, count, now }: RoomsOptions): Promise<Row[]> {
  const taskQueue = `bench-rooms-${randomUUID()}`;
  const store = createStore({ url: databaseUrl, now });
  const worker = fork(fileURLToPath(new URL('./rooms-worker.ts', import.meta.url)), {
    execArgv: ['--expose-gc', '--import', import.meta.resolve('tsx')],
    env: {
      ...process.env,
      TZ: 'UTC',
      DATABASE_URL: databaseUrl,
      BENCH_TEMPORAL: temporalAddress,
      BENCH_TASK_QUEUE: taskQueue,
      BENCH_ROOMS: String(count + 100),
    },
  });
  const resident = async (): Promise<number> => {
    worker.send('weigh');
    const [{ resident }] = (await once(worker, 'message')) as [{ resident: number }];
    return resident;
  };
  try {
    await once(worker, 'message');
    const owner = await store.accounts.addUser(`bench-${taskQueue.slice(-12)}`);
    const dueAt = now() + 60_000 + count * 120;
    const queue = new PQueue({ concurrency: AT_ONCE });
    const start = (rooms: number): Promise<string[]> =>
      Promise.all(Array.from({ length: rooms }, () => queue.add(() => startRoom({ temporal, store, owner, taskQueue, dueAt }))));
    // The first ones bring the code and fill the pools; the others are what is weighed.
    await start(WARM);
    await delay(1_000);
    const before = await resident();
    const slugs = await start(count);
    await delay(1_000);
    const each = ((await resident()) - before) / count / 1024;
    if (now() > dueAt) throw new Error(`${count} rooms were not started before their reminders were due; ask for fewer.`);
    const late = await reminders(store, slugs, dueAt + READ_LAG);
    const memory: Row = { what: `memory of a worker per cached room (${count} rooms)`, p50: each, unit: 'KiB' };
    return [
      ...(count >= WEIGHABLE ? [memory] : []),
      { what: `${count} reminders due at one moment: late by`, ...percentiles(late), unit: 'ms' },
      { what: 'the last of them', p50: Math.max(...late), unit: 'ms' },
    ];
  } finally {
    worker.send('stop');
    await once(worker, 'exit');
    await store.close();
  }
}

interface Start {
  readonly temporal: Client;
  readonly store: Store;
  readonly owner: { readonly id: string; readonly name: string };
  readonly taskQueue: string;
  readonly dueAt: number;
}

/** A room in an open round with a reviewer that is to be reminded at `dueAt`. @returns its slug */
async function startRoom({ temporal, store, owner, taskQueue, dueAt }: Start): Promise<string> {
  const pullRequest = {
    forge: 'github',
    key: `bench:${randomUUID()}`,
    repository: 'bench/bench',
    url: 'https://github.com/bench/bench/pull/1',
  } as const;
  const { room } = await store.rooms.open({ ownerId: owner.id, pullRequest, title: 'Bench', recipe: 'panel', another: true });
  const head = { sha: 'a'.repeat(40), baseSha: 'b'.repeat(40) };
  const reviewer = { id: 'ag_bench', name: 'ann' };
  const at = dueAt - DEFAULT_DURATIONS.remindAfter;
  const facts: RoomFact[] = [
    {
      type: 'RoomOpened',
      slug: room.slug,
      pullRequest,
      recipe: 'panel',
      owner,
      head: { ...head, state: 'open' },
      barista: true,
      durations: DEFAULT_DURATIONS,
    },
    { type: 'ParticipantJoined', ...reviewer, kind: 'agent' },
    { type: 'RolesChanged', roles: [{ id: reviewer.id, roles: ['lead', 'reviewer'] }], why: 'default' },
    {
      type: 'RoundOpened',
      number: 1,
      headSha: head.sha,
      baseSha: head.baseSha,
      by: 'barista',
      via: 'open',
      reviewers: [reviewer.id],
      carried: [],
    },
  ];
  const events = facts.map((fact): RoomEvent => ({ ...fact, at }));
  await store.project(room.slug, { from: 0, events });
  const state = events.reduce<RoomState | null>(apply, null)!;
  const input: RoomInput = { kind: 'resume', state, outbox: { from: state.seq, events: [] } };
  await temporal.workflow.start(ROOM_WORKFLOW, {
    taskQueue,
    workflowId: roomWorkflowId(room.slug),
    args: [input],
    workflowTaskTimeout: '3s',
  });
  return room.slug;
}

/** By how many milliseconds after `dueAt` each room's reminder was written down. */
async function reminders(store: Store, slugs: readonly string[], dueAt: number): Promise<number[]> {
  const late: number[] = [];
  for (const slug of slugs) {
    for (;;) {
      const { messages } = await store.messages.list(slug, 0);
      const reminder = messages.find(({ text }) => text.includes('waits for your review'));
      if (reminder) {
        late.push(Math.max(0, reminder.at - dueAt));
        break;
      }
      await delay(500);
    }
  }
  return late;
}
