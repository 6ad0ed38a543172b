import { expect, test } from 'vitest';
import { apply } from '../../workflows/room/apply.js';
import type { Command } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
import { MAX_ROOM_BYTES } from '../../workflows/room/decide/size.js';
import type { RoomState } from '../../workflows/room/state.js';
import { LIMITS } from '../../workflows/room/state.js';
import { BASE, aRoom, idOf, sha } from '../support/room.js';

const REVIEWERS = 25;
const ROUNDS = 5;
const MEGABYTE = 1_000_000;

/** A room in full, with ids as long as the real ones: 39 characters for a participant, 19 for a text. */
function theLargestRoom(): RoomState {
  const names = Array.from({ length: REVIEWERS }, (_, n) => `${n}`.padStart(36, 'reviewer-'));
  const { state, now } = aRoom().join(...names);
  const [lead] = names.map(idOf);
  let room = state;
  const run = (command: Command): void => {
    const decision = decide(room, { ...command, requestId: `${command.type}:${crypto.randomUUID()}` }, now);
    if (decision.kind === 'refused') throw new Error(decision.refusal.message);
    for (const fact of decision.events) room = apply(room, { ...fact, at: now });
  };
  let texts = 0;
  const text = (): string => `tx_${String((texts += 1)).padStart(16, '0')}`;
  const submit = (by: string, findings: number, references: readonly string[]): void =>
    run({
      type: 'submitReview',
      by,
      verdict: 'request_changes',
      summary: text(),
      findings: Array.from({ length: findings }, (_, n) => ({
        path: `packages/somewhere/src/in/a/tree/of/files/component-${n}.ts`,
        line: 1_000 + n,
        side: 'new',
        severity: 'major',
        body: text(),
        outsideDiff: false,
      })),
      references: references.map((finding) => ({ finding, stance: 'agree', note: text() })),
    });
  const head = (number: number) => ({ sha: sha(`c${number}`), baseSha: BASE, state: 'open' as const, knownSeq: room.head.seq, move: null });

  run({ type: 'openRound', by: lead!, head: head(1) });
  for (const name of names) submit(idOf(name), LIMITS.unsettledFindings / REVIEWERS, []);
  for (let number = 2; number <= ROUNDS; number++) {
    run({ type: 'nextRound', by: lead!, head: head(number), force: false });
    const { carried } = room.round!;
    for (const [index, name] of names.entries()) {
      const from = Array.from({ length: LIMITS.referencesPerReview }, (_, n) => carried[(index * 53 + n) % carried.length]!);
      submit(idOf(name), 0, from);
    }
  }
  return room;
}

test('S6: the largest room stays under 1 MB of JSON', () => {
  const room = theLargestRoom();
  expect(room.findings).toHaveLength(LIMITS.unsettledFindings);
  expect(room.round!.reviews.flatMap((review) => review.references)).toHaveLength(REVIEWERS * LIMITS.referencesPerReview);
  expect(room.round!.number).toBe(ROUNDS);
  const size = JSON.stringify(room).length;
  const parts = Object.entries(room).map(([part, value]) => [part, JSON.stringify(value).length] as const);
  console.info(`the largest room: ${size} bytes`, Object.fromEntries(parts.filter(([, bytes]) => bytes > 5_000)));
  expect(size).toBeLessThan(MEGABYTE);
});

test('S6: a room that is full takes nothing that makes it larger, and goes on as it is', () => {
  const room = aRoom()
    .join('ana', 'grok', 'kim', 'pia')
    .roles({ pia: ['author'] })
    .open('ana');
  const long = Array.from({ length: 200 }, () => ({ path: `${'long/'.repeat(600)}a.ts` }));
  room.submit('ana', { findings: long }).submit('grok', { findings: long });
  expect(room.refused((it) => it.submit('kim', { findings: long }))).toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('full'),
  });
  const answers = (): unknown => {
    for (let n = 0; n < 1_000; n++) room.answer('pia', 'f1', 'reject', `no ${n} ${'because '.repeat(500)}`);
    return 'never full';
  };
  expect(answers).toThrow('is full');
  expect(JSON.stringify(room.state).length).toBeLessThan(MAX_ROOM_BYTES);
  for (let n = 1; n <= 200; n++) room.resolve('ana', `f${n}`, 'withdrawn');
  room.decline('kim').push('b2').next('ana');
  expect(room.submit('kim', { findings: long }).state.round!.reviews).toHaveLength(1);
});
