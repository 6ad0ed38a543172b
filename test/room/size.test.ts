import { expect, test } from 'vitest';
import { apply } from '../../workflows/room/apply.js';
import type { Command } from '../../workflows/room/commands.js';
import { decide } from '../../workflows/room/decide/index.js';
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
