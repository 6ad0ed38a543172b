// What a room's history costs, counted on Temporal's own server with the real activities (DESIGN, History stays small).
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roomWorkflowId } from '../../workflows/messages.js';
import { connectTo } from '../support/connect.js';
import type { Person } from '../support/edge.js';
import { startWorld, type World } from '../support/world.js';

/** Events at most, but for a first reveal and a change of head. */
const WRITE = 9;
const DEADLINE = 15;
/** Of them pass at least, from the first reminder to the assembled draft. */
const DEADLINES = 5;

let world: World;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  world = await startWorld();
  connection = await connectTo(process.env.TEMPORAL_ADDRESS!);
  client = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! });
});
afterAll(async () => {
  await connection.close();
  await world.stop();
});

interface Event {
  readonly type: string;
  /** Of an activity that begins. */
  readonly activity: string | undefined;
}

async function eventsOf(room: string): Promise<Event[]> {
  const history = await client.workflow.getHandle(roomWorkflowId(room)).fetchHistory();
  const { events } = JSON.parse(historyToJSON(history)) as {
    events: { eventType: string; activityTaskScheduledEventAttributes?: { activityType: { name: string } } }[];
  };
  return events.map(({ eventType, activityTaskScheduledEventAttributes }) => ({
    type: eventType.replace('EVENT_TYPE_', ''),
    activity: activityTaskScheduledEventAttributes?.activityType.name,
  }));
}

/** Tasks under way, and activities besides the head's watch, which never ends. */
function isBusy(events: readonly Event[]): boolean {
  const under = (kind: string): number =>
    events.filter(({ type }) => type === `${kind}_SCHEDULED`).length -
    events.filter(({ type }) => new RegExp(`^${kind}_(COMPLETED|FAILED|TIMED_OUT|CANCELED)$`).test(type)).length;
  return under('WORKFLOW_TASK') > 0 || under('ACTIVITY_TASK') > 1;
}

/** A room's history once nothing more comes of what happened. */
async function settledEvents(room: string): Promise<Event[]> {
  for (let before = await eventsOf(room); ;) {
    await delay(200);
    const after = await eventsOf(room);
    if (after.length === before.length && !isBusy(after)) return after;
    before = after;
  }
}

/** The events that `act`, and all that comes of it, add to the room's history. */
async function added(room: string, act: () => Promise<unknown>): Promise<Event[]> {
  const before = await settledEvents(room);
  await act();
  return (await settledEvents(room)).slice(before.length);
}

const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type);

/** Of the loop: a local activity had no time for them, so that one proper was begun. */
const READS: readonly (string | undefined)[] = ['readCalls', 'readHead', 'assembleDraft'];

/**
 * Whether a machine that stood still added to it: a task ran out of its time, a read out of its second, or whoever had
 * to project was gone so long that the room was asked to. What a history costs is counted where nothing of it happened.
 */
function isSlowed(events: readonly Event[]): boolean {
  return events.some(
    ({ type, activity }) => /_(TIMED_OUT|FAILED)$/.test(type) || type === 'WORKFLOW_EXECUTION_SIGNALED' || READS.includes(activity),
  );
}

/** What a room costs on a machine that does not stand still: each time it did, another room lives the same. */
async function undisturbed<T>(life: () => Promise<{ readonly cost: T; readonly slowed: boolean }>): Promise<T> {
  for (let lives = 1; ; lives += 1) {
    const { cost, slowed } = await life();
    if (!slowed || lives === 5) return cost;
  }
}

const TIMER_FIRED = 'TIMER_FIRED';
const EACH_DEADLINE = /waits for your review[^]*round 1 closed[^]*still to be written[^]*@fay is lead/;
const FAST = {
  head_quiet: 'PT1S',
  working_window: 'PT1S',
  remind_after: 'PT2S',
  idle_close: 'PT4S',
  draft_reminder: 'PT2S',
  draft_handoff: 'PT4S',
};
const review = (room: string) => ({
  room,
  verdict: 'request_changes',
  summary: 'Looked at it.',
  findings: [{ path: 'src/a.ts', line: 1, severity: 'major', body: 'Wrong.' }],
});

describe('a room that Barista runs', () => {
  let author: Person;
  let lead: Person;
  let reviewer: Person;
  beforeAll(async () => {
    [author, lead, reviewer] = [await world.agent('ada'), await world.agent('ben'), await world.agent('cyd')];
  });

  /** A room with these three, round 1 open. */
  async function opened(): Promise<string> {
    const agents = [author, lead, reviewer];
    const room = await world.room({ recipe: 'build_duel', barista: true, agents, durations: { head_quiet: 'PT1S' } });
    await world.rest(world.owner, 'PUT', `/rooms/${room}/review/roles`, {
      roles: { [lead.id]: ['lead', 'reviewer'], [reviewer.id]: ['reviewer'] },
    });
    await expect.poll(async () => (await world.ok(author, 'get_review_round', { room })).round?.number).toBe(1);
    return room;
  }

  test('a read, a poll, a message and a refusal add nothing', async () => {
    const room = await opened();
    const calls: (() => Promise<unknown>)[] = [
      () => world.ok(reviewer, 'get_pr_context', { room }),
      () => world.ok(reviewer, 'get_file', { room, path: 'src/a.ts' }),
      () => world.ok(reviewer, 'get_review_round', { room }),
      () => world.ok(reviewer, 'list_rooms', {}),
      () => world.ok(reviewer, 'wait_for_messages', { room, timeout_seconds: 0 }),
      () => world.ok(reviewer, 'post_message', { room, text: 'Hello @ben.' }),
      () => world.refused(reviewer, 'submit_review', { ...review(room), verdict: 'none' }),
      () => world.rest(world.owner, 'GET', `/rooms/${room}`),
    ];
    expect(
      await added(room, async () => {
        for (const call of calls) await call();
      }),
    ).toEqual([]);
    // The room itself refuses it; of a task that took its time Temporal writes down that it was, and nothing came of it.
    const refused = await added(room, () =>
      world.refused(reviewer, 'draft_review', { room, verdict: 'comment', body: 'Mine.', findings: [] }),
    );
    expect(typesOf(refused).filter((type) => !type.startsWith('WORKFLOW_TASK_'))).toEqual([]);
  });

  test('a lone write adds at most 9 events, and its repeat no more', async () => {
    const costs = await undisturbed(async () => {
      const room = await opened();
      const writes: Record<string, () => Promise<unknown>> = {
        join: async () => world.ok(await world.agent(`dan-${room.slice(-5)}`), 'join_room', { room }),
        decline: () => world.ok(reviewer, 'decline_review', { room, reason: 'No time.' }),
        submit: () => world.ok(reviewer, 'submit_review', review(room)),
        'submit again': () => world.ok(reviewer, 'submit_review', review(room)),
        replace: () => world.ok(reviewer, 'submit_review', { ...review(room), summary: 'Looked again.' }),
        roles: () => world.rest(world.owner, 'PUT', `/rooms/${room}/review/roles`, { roles: { [reviewer.id]: ['lead', 'reviewer'] } }),
      };
      const cost: [string, Event[]][] = [];
      for (const [name, write] of Object.entries(writes)) cost.push([name, await added(room, write)]);
      return { cost, slowed: cost.some(([, events]) => isSlowed(events)) };
    });
    for (const [name, events] of costs) expect(events.length, `${name}: ${typesOf(events).join(' ')}`).toBeLessThanOrEqual(WRITE);
  });

  test("only the first sight of another's review is written down", async () => {
    const { first, again } = await undisturbed(async () => {
      const room = await opened();
      await world.ok(reviewer, 'submit_review', review(room));
      const look = () => world.ok(author, 'get_review_round', { room });
      const cost = { first: await added(room, look), again: await added(room, look) };
      return { cost, slowed: isSlowed(cost.first) };
    });
    expect(first.length).toBeGreaterThan(0);
    expect(first.length, typesOf(first).join(' ')).toBeLessThanOrEqual(WRITE);
    expect(again).toEqual([]);
  });
});

describe('deadlines', () => {
  /** The history from one timer that fired to the next, with nobody calling. */
  function deadlines(events: readonly Event[]): Event[][] {
    const starts = events.flatMap(({ type }, at) => (type === TIMER_FIRED ? [at] : []));
    return starts.map((start, n) => events.slice(start, starts[n + 1]));
  }

  test('each adds at most 15 events, from the first reminder to the assembled draft', async () => {
    const crew = [await world.agent('eva'), await world.agent('fay')];
    const { all, said } = await undisturbed(async () => {
      const room = await world.room({ barista: true, agents: crew, durations: FAST });
      const opened = async () => (await world.ok(crew[0]!, 'get_review_round', { room })).round?.number;
      await expect.poll(opened).toBe(1);
      await settledEvents(room);
      await world.ok(crew[0]!, 'submit_review', { room, verdict: 'approve', summary: 'Good.', findings: [] });
      await world.ok(crew[1]!, 'get_pr_context', { room });
      const before = (await eventsOf(room)).length;
      const notes = async () => {
        const { messages } = await world.store.messages.list(room, 0);
        return messages.map(({ text }) => text).join('\n');
      };
      // @eva leads and is asked, reminded and replaced by @fay, who does no better.
      await expect.poll(notes).toMatch(/was assembled/);
      const cost = { all: (await settledEvents(room)).slice(before), said: await notes() };
      // Of clocks that ran out together, while the machine stood still, one may overtake another (B27).
      const together = deadlines(cost.all).length < DEADLINES;
      return { cost, slowed: isSlowed(cost.all) || together };
    });
    expect(said).toMatch(EACH_DEADLINE);
    const found = deadlines(all);
    expect(found.length).toBeGreaterThanOrEqual(DEADLINES);
    for (const events of found) expect(events.length, typesOf(events).join(' ')).toBeLessThanOrEqual(DEADLINE);
  });
});
