// What the server and the worker stand on is away for a while, and comes back. BARISTA_FAULTS=long: a minute, not 10 s.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Person } from '../support/edge.js';
import { Machine } from './machine.js';

const AWAY_MS = process.env.BARISTA_FAULTS === 'long' ? 60_000 : 10_000;

let machine: Machine;
let ann: Person;
let bob: Person;
beforeAll(async () => {
  machine = await Machine.start();
  [ann, bob] = [await machine.agent('ann'), await machine.agent('bob')];
});
afterEach(() => machine.reconnect());
afterAll(() => machine.stop());

const review = (room: string, who: Person) => ({
  room,
  verdict: 'comment',
  summary: `By ${who.name}.`,
  findings: [{ path: 'src/a.ts', line: 1, severity: 'nit', body: `By ${who.name}.` }],
});
const submit = (room: string, who: Person) => machine.persist(who, 'submit_review', review(room, who));

async function toldOnce(room: string, text: RegExp): Promise<void> {
  expect((await machine.notes(room)).filter((note) => text.test(note.text))).toHaveLength(1);
}

test('the database is away: calls say so or are answered later, and a clock that ran out meanwhile is kept', async () => {
  const waiting = await machine.room([ann, bob], { barista: true, durations: { head_quiet: 'PT1S', remind_after: 'PT4S' } });
  const room = await machine.room([ann, bob]);
  await machine.ok(ann, 'open_review_round', { room });
  await machine.eventually(waiting, /round 1 opened/);
  machine.cutOff('server', 'worker');
  const calls = [ann, bob].map((who) => submit(room, who));
  await expect(machine.tool(ann, 'get_review_round', { room })).rejects.toThrow(/"code":"unavailable".*ask again/);
  await delay(AWAY_MS);
  machine.reconnect();
  const answers = await Promise.all(calls);
  expect(new Set(answers.map((answer) => answer.review.id)).size).toBe(2);
  await machine.isWhole(room);
  await toldOnce(room, /@ann submitted/);
  await toldOnce(room, /@bob submitted/);
  await machine.eventually(waiting, /waits for your review/);
  await machine.isWhole(waiting);
});

test('the database goes away between Update and projection: the room has the review, and is asked for it once', async () => {
  const room = await machine.room([ann, bob]);
  await machine.ok(ann, 'open_review_round', { room });
  machine.freeze('worker');
  const call = submit(room, ann);
  await machine.updateIsAnnounced(room);
  machine.cutOff('server', 'worker');
  machine.wake('worker');
  await machine.roomIsAhead(room);
  await delay(AWAY_MS);
  machine.reconnect();
  expect((await call).review).toMatchObject({ id: 'v1', finding_ids: ['f1'] });
  await machine.isWhole(room);
  await toldOnce(room, /submitted a review/);
});

test('PostgreSQL itself is killed and started again', async () => {
  const room = await machine.room([ann, bob]);
  await machine.ok(ann, 'open_review_round', { room });
  await machine.kill('database');
  const call = submit(room, ann);
  await machine.begin('database');
  await call;
  await machine.isWhole(room);
  await toldOnce(room, /submitted a review/);
});

test('Temporal is away: reads and messages go on, a write is answered once it is back', async () => {
  const room = await machine.room([ann, bob]);
  await machine.ok(ann, 'open_review_round', { room });
  await machine.kill('temporal');
  const call = submit(room, ann);
  expect((await machine.ok(bob, 'get_review_round', { room })).round.number).toBe(1);
  const { id } = await machine.ok(bob, 'post_message', { room, text: 'Still here.' });
  const { messages } = await machine.ok(ann, 'wait_for_messages', { room, after: String(Number(id) - 1), timeout_seconds: 0 });
  expect(messages).toMatchObject([{ text: 'Still here.' }]);
  await delay(AWAY_MS);
  await machine.begin('temporal');
  expect((await call).review.id).toBe('v1');
  await machine.isWhole(room);
  await toldOnce(room, /submitted a review/);
});
