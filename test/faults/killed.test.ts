// Processes that end by SIGKILL at the worst moment. Whoever was not answered asks again, as clients do.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Person } from '../support/edge.js';
import { Machine } from './machine.js';

let machine: Machine;
let ann: Person;
let bob: Person;
beforeAll(async () => {
  machine = await Machine.start();
  [ann, bob] = [await machine.agent('ann'), await machine.agent('bob')];
});
afterAll(() => machine.stop());

const review = (room: string, body = 'Off by one.') => ({
  room,
  verdict: 'request_changes',
  summary: 'Looked at it.',
  findings: [{ path: 'src/a.ts', line: 1, severity: 'major', body }],
});

async function openRoom(): Promise<string> {
  const room = await machine.room([ann, bob]);
  await machine.ok(ann, 'open_review_round', { room });
  return room;
}

/**
 * A review that the room has and the database has not: its server is held up between the two. The worker has no way to
 * the database meanwhile, for its sweeper has the room project by itself what a server has not within three seconds.
 */
async function submitUnprojected(room: string): Promise<{ answer: Promise<unknown> }> {
  machine.freeze('worker');
  const answer = machine.tool(ann, 'submit_review', review(room)).catch(() => 'no answer');
  await machine.updateIsAnnounced(room);
  machine.stallServer();
  machine.cutOff('worker');
  machine.wake('worker');
  await machine.roomIsAhead(room);
  return { answer };
}

/** One review of each of these reviewers, told once. */
async function isSubmittedOnce(room: string, ...reviewers: Person[]): Promise<void> {
  await machine.isWhole(room);
  const state = await machine.readModel(room);
  expect(state.round!.reviews.map(({ by }) => by).sort()).toEqual(reviewers.map(({ id }) => id).sort());
  expect(state.findings).toHaveLength(reviewers.length);
  const told = (await machine.notes(room)).filter(({ text }) => text.includes('submitted a review'));
  expect(told.map(({ text }) => text).sort()).toEqual(reviewers.map(({ name }) => `@${name} submitted a review`).sort());
}

test('the server is killed between Update and projection: the room projects it, and the repeat is no second review', async () => {
  const room = await openRoom();
  const { answer } = await submitUnprojected(room);
  await machine.kill('server');
  expect(await answer).toBe('no answer');
  machine.reconnect();
  // Nobody asks again, and still it arrives.
  await isSubmittedOnce(room, ann);
  await machine.begin('server');
  const { review: first } = await machine.persist(ann, 'submit_review', review(room));
  expect(first).toMatchObject({ id: 'v1', finding_ids: ['f1'] });
  await isSubmittedOnce(room, ann);
});

test('the worker is killed while calls wait for it: another one answers each of them once', async () => {
  const room = await openRoom();
  machine.freeze('worker');
  const calls = [ann, bob].map((who) => machine.persist(who, 'submit_review', review(room, `By ${who.name}.`)));
  await machine.updateIsAnnounced(room);
  await machine.kill('worker');
  await machine.begin('worker');
  const answers = await Promise.all(calls);
  expect(new Set(answers.map((answer) => answer.review.id)).size).toBe(2);
  await isSubmittedOnce(room, ann, bob);
});

test('the worker is killed between what the room decided by itself and its projection', async () => {
  const room = await openRoom();
  await machine.ok(ann, 'submit_review', review(room));
  machine.cutOff('worker');
  await machine.deliver(room, machine.git.push({ 'src/c.ts': 'export {};\n' }, 'Add c'));
  await machine.roomIsAhead(room);
  await machine.kill('worker');
  machine.reconnect();
  await machine.begin('worker');
  await machine.eventually(room, /head moved/);
  await isSubmittedOnce(room, ann);
});

test('everything is killed just after a change was decided: the same call afterwards finds it done', async () => {
  const room = await openRoom();
  const { answer } = await submitUnprojected(room);
  await machine.kill();
  expect(await answer).toBe('no answer');
  machine.reconnect();
  await machine.begin();
  const { review: first } = await machine.persist(ann, 'submit_review', review(room));
  expect(first).toMatchObject({ id: 'v1', finding_ids: ['f1'] });
  await isSubmittedOnce(room, ann);
  await machine.persist(bob, 'submit_review', review(room, 'By bob.'));
  await isSubmittedOnce(room, ann, bob);
});
