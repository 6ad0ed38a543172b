// What a room's history costs, counted on Temporal's own server with the real activities (DESIGN, History stays small).
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { roomWorkflowId } from '../../workflows/messages.js';
import type { Person } from '../support/edge.js';
import { PATIENCE } from '../support/patience.js';
import { startWorld, type World } from '../support/world.js';

/** Events at most, but for a first reveal and a change of head. */
const WRITE = 9;
const DEADLINE = 15;

let world: World;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  world = await startWorld();
  connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS! });
  client = new Client({ connection, namespace: process.env.TEMPORAL_NAMESPACE! });
});
afterAll(async () => {
  await connection.close();
  await world.stop();
});

async function eventsOf(room: string): Promise<string[]> {
  const history = await client.workflow.getHandle(roomWorkflowId(room)).fetchHistory();
  return (JSON.parse(historyToJSON(history)) as { events: { eventType: string }[] }).events.map(({ eventType }) =>
    eventType.replace('EVENT_TYPE_', ''),
  );
}

/** Tasks under way, and activities besides the head's watch, which never ends. */
function isBusy(events: readonly string[]): boolean {
  const under = (kind: string): number =>
    events.filter((type) => type === `${kind}_SCHEDULED`).length -
    events.filter((type) => new RegExp(`^${kind}_(COMPLETED|FAILED|TIMED_OUT)$`).test(type)).length;
  return under('WORKFLOW_TASK') > 0 || under('ACTIVITY_TASK') > 1;
}

/** A room's history once nothing more comes of what happened. */
async function settledEvents(room: string): Promise<string[]> {
  for (let before = await eventsOf(room); ;) {
    await delay(200);
    const after = await eventsOf(room);
    if (after.length === before.length && !isBusy(after)) return after;
    before = after;
  }
}

/** The events that `act`, and all that comes of it, add to the room's history. */
async function added(room: string, act: () => Promise<unknown>): Promise<string[]> {
  const before = await settledEvents(room);
  await act();
  return (await settledEvents(room)).slice(before.length);
}

const TIMER_FIRED = 'TIMER_FIRED';
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
  let room: string;
  let author: Person;
  let lead: Person;
  let reviewer: Person;
  beforeAll(async () => {
    [author, lead, reviewer] = [await world.agent('ada'), await world.agent('ben'), await world.agent('cyd')];
    room = await world.room({ recipe: 'build_duel', barista: true, agents: [author, lead, reviewer], durations: { head_quiet: 'PT1S' } });
    await world.rest(world.owner, 'PUT', `/rooms/${room}/review/roles`, {
      roles: { [lead.id]: ['lead', 'reviewer'], [reviewer.id]: ['reviewer'] },
    });
    await vi.waitFor(async () => expect((await world.ok(author, 'get_review_round', { room })).round?.number).toBe(1), PATIENCE);
  });

  test('a read, a poll, a message and a refusal add nothing', async () => {
    const calls: (() => Promise<unknown>)[] = [
      () => world.ok(reviewer, 'get_pr_context', { room }),
      () => world.ok(reviewer, 'get_file', { room, path: 'src/a.ts' }),
      () => world.ok(reviewer, 'get_review_round', { room }),
      () => world.ok(reviewer, 'list_rooms', {}),
      () => world.ok(reviewer, 'wait_for_messages', { room, timeout_seconds: 0 }),
      () => world.ok(reviewer, 'post_message', { room, text: 'Hello @ben.' }),
      () => world.refused(reviewer, 'draft_review', { room, verdict: 'comment', body: 'Mine.', findings: [] }),
      () => world.refused(reviewer, 'submit_review', { ...review(room), verdict: 'none' }),
      () => world.rest(world.owner, 'GET', `/rooms/${room}`),
    ];
    expect(
      await added(room, async () => {
        for (const call of calls) await call();
      }),
    ).toEqual([]);
  });

  test('a lone write adds at most 9 events, and its repeat no more', async () => {
    const writes: Record<string, () => Promise<unknown>> = {
      join: async () => world.ok(await world.agent('dan'), 'join_room', { room }),
      decline: () => world.ok(reviewer, 'decline_review', { room, reason: 'No time.' }),
      submit: () => world.ok(reviewer, 'submit_review', review(room)),
      'submit again': () => world.ok(reviewer, 'submit_review', review(room)),
      replace: () => world.ok(reviewer, 'submit_review', { ...review(room), summary: 'Looked again.' }),
      roles: () => world.rest(world.owner, 'PUT', `/rooms/${room}/review/roles`, { roles: { [reviewer.id]: ['lead', 'reviewer'] } }),
    };
    for (const [name, write] of Object.entries(writes)) {
      const events = await added(room, write);
      expect(events.length, `${name}: ${events.join(' ')}`).toBeLessThanOrEqual(WRITE);
    }
  });

  test("only the first sight of another's review is written down", async () => {
    const look = () => world.ok(author, 'get_review_round', { room });
    const first = await added(room, look);
    expect(first.length).toBeGreaterThan(0);
    expect(first.length, first.join(' ')).toBeLessThanOrEqual(WRITE);
    expect(await added(room, look)).toEqual([]);
  });
});

describe('deadlines', () => {
  /** The history from one timer that fired to the next, with nobody calling. */
  function deadlines(events: readonly string[]): string[][] {
    const starts = events.flatMap((type, at) => (type === TIMER_FIRED ? [at] : []));
    return starts.map((start, n) => events.slice(start, starts[n + 1]));
  }

  test('each adds at most 15 events, from the first reminder to the assembled draft', async () => {
    const crew = [await world.agent('eva'), await world.agent('fay')];
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
    await expect.poll(notes, { timeout: 60_000, interval: 500 }).toMatch(/was assembled/);
    expect(await notes()).toMatch(/waits for your review[^]*round 1 closed[^]*still to be written[^]*@fay is lead/);
    const found = deadlines((await settledEvents(room)).slice(before));
    expect(found.length).toBeGreaterThanOrEqual(5);
    for (const events of found) expect(events.length, events.join(' ')).toBeLessThanOrEqual(DEADLINE);
  });
});
