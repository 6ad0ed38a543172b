import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSweeper, type Sweeper } from '../../worker/sweeper.js';
import { textId } from '../../prisma/text-ids.js';
import { roomWorkflowId } from '../../workflows/messages.js';
import { openRow } from '../support/store.js';
import { PATIENCE } from '../support/patience.js';
import { DoorWorld, join } from './support.js';

const SECOND = 1_000;
const DAY = 24 * 60 * 60 * SECOND;

let world: DoorWorld;
beforeAll(async () => {
  world = await DoorWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

function sweeper(errors: unknown[] = []): Sweeper {
  return createSweeper({
    client: world.client,
    store: world.store,
    now: world.db.clock.now,
    intervalMs: 10,
    signalMs: PATIENCE.timeout,
    onError: (error) => errors.push(error),
  });
}

const projected = (slug: string, seq: number): Promise<true | null> =>
  world.store.bus.waitFor(slug, async () => ((await world.store.rooms.seq(slug))! >= seq ? true : null), { timeoutMs: PATIENCE.timeout });

/** How many signals the room has had. */
async function signals(slug: string): Promise<number> {
  const { events } = await world.client.workflow.getHandle(roomWorkflowId(slug)).fetchHistory();
  return events!.filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

test('an edge killed between its Update and the projection: the sweeper has the room project', async () => {
  const { slug } = await world.open('healed');
  const { seq } = await world.sendAndDie(slug, join('grok'), 'healed');
  const { sweep } = sweeper();
  const before = await signals(slug);
  await sweep(); // too early: its sender may be at work
  expect(await signals(slug)).toBe(before);
  world.db.clock.at += 4 * SECOND;
  await sweep();
  expect(await projected(slug, seq)).toBe(true);
  expect((await world.store.rooms.members(slug)).at(-1)).toMatchObject({ name: 'grok' });
});

test('an Update that comes after the first look is caught by the second, and then the intent is gone', async () => {
  const { slug } = await world.open('late');
  await world.store.intents.add({ id: 'late', slug });
  const { sweep } = sweeper();
  world.db.clock.at += 4 * SECOND;
  await sweep();
  const { seq } = await world.sendAndDie(slug, join('late-one'), 'late-too');
  world.db.clock.at += 27 * SECOND;
  expect(await world.store.intents.overdue(world.db.clock.at - 30 * SECOND)).toContainEqual({ id: 'late', slug });
  await sweep();
  expect(await projected(slug, seq)).toBe(true);
  expect(await world.store.intents.overdue(world.db.clock.at - 30 * SECOND)).toEqual([]);
});

test('two sweepers at once, a room without a run: no error, and nothing stays behind', async () => {
  const { slug } = await openRow(world.store, 'no-run');
  await world.store.intents.add({ id: 'no-run', slug });
  const errors: unknown[] = [];
  const both = [sweeper(errors), sweeper(errors)];
  for (const seconds of [4, 30]) {
    world.db.clock.at += seconds * SECOND;
    await Promise.all(both.map(({ sweep }) => sweep()));
  }
  expect(errors).toEqual([]);
  expect(await world.store.intents.overdue(world.db.clock.at)).toEqual([]);
});

test('DESIGN 17: staged texts untouched for a day go; accepted ones, touched ones and those of an Update on its way stay', async () => {
  const { slug } = await openRow(world.store, 'texts');
  const busy = (await openRow(world.store, 'busy')).slug;
  await world.store.texts.stage(slug, 'ag_x', ['forgotten', 'wanted again']);
  await world.store.texts.stage(busy, 'ag_x', ['on its way']);
  world.db.clock.at += DAY;
  await world.store.texts.stage(slug, 'ag_x', ['wanted again']);
  await world.store.intents.add({ id: 'busy', slug: busy });
  world.db.clock.at += SECOND;
  await sweeper().sweep();
  // Gone or not shows when time is over for all of them.
  world.db.clock.at += 2 * DAY;
  await world.store.intents.remove(['busy']);
  expect(await world.store.texts.sweep(world.db.clock.at - DAY)).toBe(2);
  expect(textId(slug, 'ag_x', 'wanted again')).not.toBe(textId(busy, 'ag_x', 'wanted again'));
});

test('V5: what was heard of CI is forgotten after an hour', async () => {
  const { deliveries } = world.store;
  await deliveries.ciHeard('local:repo', 'a1', world.db.clock.at);
  world.db.clock.at += 60 * 60 * SECOND;
  await deliveries.ciHeard('local:repo', 'a2', world.db.clock.at);
  world.db.clock.at += SECOND;
  await sweeper().sweep();
  expect([await deliveries.ciHeardAt('local:repo', 'a1'), await deliveries.ciHeardAt('local:repo', 'a2')]).toEqual([
    null,
    world.db.clock.at - SECOND,
  ]);
});

test('it looks by itself until it is stopped, and tells of a look that failed', async () => {
  const { slug } = await world.open('by-itself');
  const { seq } = await world.sendAndDie(slug, join('grok'), 'by-itself');
  world.db.clock.at += 4 * SECOND;
  const errors: unknown[] = [];
  const running = sweeper(errors);
  running.start();
  expect(await projected(slug, seq)).toBe(true);
  await running.stop();
  expect(errors).toEqual([]);
  const broken = createSweeper({
    client: world.client,
    store: { ...world.store, intents: { ...world.store.intents, takeStale: () => Promise.reject(new Error('no database')) } },
    now: world.db.clock.now,
    intervalMs: 1,
    onError: (error) => errors.push(error),
  });
  broken.start();
  await expect.poll(() => errors.length).toBeGreaterThan(1);
  await broken.stop();
});
