// B27: the machine is down for longer than every clock that runs, in each phase of a room. What was due happens once, late.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Person } from '../support/edge.js';
import { Machine, type Note } from './machine.js';

/** How long the clocks run that run out while everything is stopped: long enough for a slow machine to stop the worker. */
const CLOCK_S = 20;
/** How much longer the hand-off of a draft takes than the reminder, which is left out where both are due. */
const HANDOFF_S = 8;
/** Until every room is in its phase. */
const NEVER_S = 3_600;
const NEVER = `PT${NEVER_S}S`;
const base = {
  head_quiet: 'PT1S',
  remind_after: NEVER,
  idle_close: NEVER,
  round_cap: NEVER,
  uphold_window: NEVER,
  fixes_not_pushed: NEVER,
  draft_reminder: NEVER,
  draft_handoff: NEVER,
};

let machine: Machine;
let ann: Person;
let bob: Person;
const rooms = { quiet: '', open: '', answers: '', fixes: '', drafting: '' };
/** When everything was stopped, and when it was up again; epoch milliseconds. */
let stoppedAt: number;
let startedAt: number;

beforeAll(async () => {
  machine = await Machine.start();
  [ann, bob] = [await machine.agent('ann'), await machine.agent('bob')];
  const crew = [ann, bob];
  const approve = (room: string) => ({ room, verdict: 'approve', summary: 'Good.', findings: [] });
  const opened = (room: string) => machine.eventually(room, /round 1 opened/);

  rooms.drafting = await machine.room(crew, { barista: true, durations: base });
  rooms.answers = await machine.room(crew, { barista: true, recipe: 'build_duel', durations: base });
  rooms.fixes = await machine.room(crew, { barista: true, recipe: 'build_duel', durations: base });
  rooms.open = await machine.room(crew, { barista: true, durations: { ...base, working_window: 'PT1S' } });
  await Promise.all([opened(rooms.drafting), opened(rooms.answers), opened(rooms.fixes), opened(rooms.open)]);
  rooms.quiet = await machine.room(crew, { barista: true, durations: { ...base, head_quiet: NEVER } });

  const wrong = {
    verdict: 'request_changes',
    findings: [{ path: 'src/a.ts', line: 1, severity: 'major', body: 'Wrong.' }],
  };
  await machine.ok(bob, 'submit_review', { ...approve(rooms.fixes), ...wrong });
  const [finding] = (await machine.ok(bob, 'submit_review', { ...approve(rooms.answers), ...wrong })).review.finding_ids;
  await machine.ok(ann, 'rebut_finding', { room: rooms.answers, finding_id: finding, answer: 'reject', reason: 'It is right.' });
  await machine.ok(ann, 'submit_review', approve(rooms.open));
  await machine.eventually(rooms.fixes, /round 1 closed/);
  await machine.eventually(rooms.answers, /round 1 closed/);
  for (const who of crew) await machine.ok(who, 'submit_review', approve(rooms.drafting));
  await machine.eventually(rooms.drafting, /draft the review/);
  await Promise.all([
    runsOutIn(rooms.quiet, { head_quiet: CLOCK_S }),
    runsOutIn(rooms.open, { remind_after: CLOCK_S, idle_close: CLOCK_S + 2, round_cap: CLOCK_S + 2 }),
    runsOutIn(rooms.answers, { uphold_window: CLOCK_S }),
    runsOutIn(rooms.fixes, { fixes_not_pushed: CLOCK_S }),
    runsOutIn(rooms.drafting, { draft_reminder: CLOCK_S, draft_handoff: CLOCK_S + HANDOFF_S }),
  ]);

  await machine.stopAll();
  stoppedAt = Date.now();
  await delay((CLOCK_S + HANDOFF_S + 3) * 1_000);
  startedAt = Date.now();
  await machine.begin();
});
afterAll(() => machine.stop());

/** Has these clocks run out in so many seconds from now, however long ago each of them began. */
async function runsOutIn(room: string, seconds: Record<string, number>): Promise<void> {
  const clocks = await machine.clocks(room);
  const now = Date.now();
  const lasts = Object.entries(seconds).map(([name, left]) => {
    const began = clocks.get(name)! - NEVER_S * 1_000;
    return [name, `PT${Math.ceil((now - began) / 1_000) + left}S`];
  });
  await machine.setDurations(room, Object.fromEntries(lasts) as Record<string, string>);
}

const said = (notes: readonly Note[], pattern: RegExp) => notes.filter(({ text }) => pattern.test(text));

describe('worker, server, Temporal and database were stopped for longer than every clock', () => {
  test('the head was quiet: the round opens once', async () => {
    await machine.eventually(rooms.quiet, /round 1 opened/);
    await happenedOnceLate(rooms.quiet, /round 1 opened/);
  });

  test('a round was open: it closes once, and the reminder that was due as well is not posted', async () => {
    await machine.eventually(rooms.open, /round 1 closed/);
    await happenedOnceLate(rooms.open, /round 1 closed/);
    expect(said(await machine.notes(rooms.open), /waits for your review/)).toEqual([]);
  });

  test('answers were awaited: the draft is asked for once', async () => {
    await machine.eventually(rooms.answers, /draft the review/);
    await happenedOnceLate(rooms.answers, /draft the review/);
  });

  test('a push was awaited: that none came is said once', async () => {
    await machine.eventually(rooms.fixes, /no fixes were pushed/);
    await happenedOnceLate(rooms.fixes, /no fixes were pushed/);
  });

  test('a draft was asked for: it is handed on once, without the reminder, and the next has its whole time from being asked', async () => {
    const handed = /draft the review/;
    await machine.eventually(rooms.drafting, /@bob is lead/);
    const notes = await machine.notes(rooms.drafting);
    expect(said(notes, /still to be written/)).toEqual([]);
    const [, second] = said(notes, handed);
    expect(second!.at).toBeGreaterThan(startedAt);
    await machine.eventually(rooms.drafting, /still to be written/);
    const [reminder] = said(await machine.notes(rooms.drafting), /still to be written/);
    expect(reminder!.text).toContain('@bob');
    expect(reminder!.at - second!.at).toBeGreaterThanOrEqual(CLOCK_S * 1_000);
    await machine.isWhole(rooms.drafting);
  });
});

async function happenedOnceLate(room: string, what: RegExp): Promise<void> {
  await machine.isWhole(room);
  const notes = said(await machine.notes(room), what);
  expect(notes).toHaveLength(1);
  expect(notes[0]!.at).toBeGreaterThan(startedAt);
  expect((await machine.notes(room)).filter(({ at }) => at > stoppedAt && at < startedAt)).toEqual([]);
}
