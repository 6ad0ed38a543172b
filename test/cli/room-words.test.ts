import { describe, expect, test } from 'vitest';
import { clockLines, disputeLines } from '../../cli/room-words.js';
import { nextStep } from '../../workflows/barista/policy.js';
import { closed, nextCommit, opened } from '../barista/support.js';
import { aClockedRoom, type ClockedRoom } from '../support/clocked-room.js';
import { NOON } from '../support/room.js';

/** What `room show` says of the clocks that really run; the room began at noon. */
function said(room: ClockedRoom, now = NOON): string[] {
  const { state, calls } = room;
  const step = nextStep(state, calls, room.now);
  if (step.kind !== 'wait') throw new Error(`it acts: ${step.action.do}`);
  const clocks = step.clocks.map(({ name, what, at }) => ({ name, what, at: new Date(at).toISOString() }));
  return clockLines(clocks, state.round?.number ?? 0, now);
}

const accepted = () => closed({ author: true }).answer('cy', 'f1', 'accept');

describe('clocks in words', () => {
  const table: [string, () => ClockedRoom, string[]][] = [
    ['B2: before round 1', () => aClockedRoom().join('ana'), ['round 1 opens at 12:02:00 UTC if nobody pushes']],
    ['B12: after a push', () => closed().push('b2'), ['round 2 opens at 12:05:00 UTC if nobody pushes']],
    [
      'B6, B7, B9: a round without a review',
      () => opened({ bo: false }),
      [
        'Barista is to remind @ana at 12:12:00 UTC, later if a review call comes',
        'idle time runs out at 12:32:00 UTC, later if a review call comes; without a review the round stays open',
        'the time of round 1 is over at 13:32:00 UTC; without a review it stays open',
      ],
    ],
    [
      'B6, B7: a round with one',
      () => opened().submit('ana').pass(11),
      [
        'round 1 closes at 12:32:00 UTC with the reviews that are in, later if a review call comes',
        'round 1 closes at 13:32:00 UTC at the latest',
      ],
    ],
    [
      'S7: a decline with a time',
      () => opened().decline('bo', 'lunch', NOON + 60 * 60_000),
      expect.arrayContaining(['@bo may be able to review from 13:00:00 UTC on']),
    ],
    [
      'B14: a rejected finding',
      () => closed({ author: true }).answer('cy', 'f1', 'reject', 'no'),
      ['@ana may uphold f1 until 12:33:00 UTC'],
    ],
    [
      'B16: an accepted finding on a new head',
      () => nextCommit(accepted()).submit('ana').submit('bo').pass(0),
      ['@ana may mark f1 fixed until 12:35:00 UTC'],
    ],
    [
      'B17: that of a lost raiser',
      () => nextCommit(accepted()).decline('ana').submit('bo').pass(0),
      ['the reviewers may mark f1 of @ana fixed until 12:15:00 UTC'],
    ],
    [
      'B22: fixes that are awaited',
      accepted,
      ['Barista is to say that the fixes were not pushed at 2030-01-08 12:03:00 UTC if no push comes'],
    ],
    [
      'B19: an ask',
      () => opened().submit('ana').submit('bo').pass(0),
      [
        'Barista is to remind @ana to draft at 12:12:00 UTC if there is no draft',
        'Barista is to hand the draft on at 12:32:00 UTC if there is no draft',
      ],
    ],
    ['R12: a merged pull request', () => closed().pullRequest('merged'), ['the room ends at 2030-01-14 12:03:00 UTC']],
  ];
  test.each(table)('%s', (_what, make, expected) => {
    expect(said(make())).toEqual(expected);
  });

  test('the day is said where it is not today, as UTC has it', () => {
    const room = aClockedRoom().join('ana');
    expect(said(room, NOON + 12 * 60 * 60_000 - 1)[0]).toContain('opens at 12:02:00 UTC');
    expect(said(room, NOON + 12 * 60 * 60_000)[0]).toContain('opens at 2030-01-07 12:02:00 UTC');
  });

  test('a clock of a newer server is told by its own words', () => {
    const clock = { name: 'nap' as never, what: 'wake up', at: new Date(NOON).toISOString() };
    expect(clockLines([clock], 1, NOON)).toEqual(['wake up at 12:00:00 UTC']);
  });
});

describe('B15: findings in dispute', () => {
  const finding = {
    id: 'f1',
    severity: 'major',
    path: 'src/a.ts',
    line: 7,
    raised_by_name: 'ana',
    body: 'Broken.\nMore.',
    state: 'disputed',
  };

  test('each is named with its place, its raiser and its first line, and nothing a terminal would act on', () => {
    const whole = { ...finding, id: 'f2', line: undefined, body: `\u001b[31m${'x'.repeat(200)}` };
    expect(
      disputeLines({
        round: { state: 'closed' },
        carried: [finding],
        reviews: [{ findings: [whole, { ...finding, id: 'f3', state: 'open' }] }],
      }),
    ).toEqual(['in dispute: f1 (major, src/a.ts:7) of @ana: Broken.', `in dispute: f2 (major, src/a.ts) of @ana: [31m${'x'.repeat(115)}…`]);
  });

  test('none while a round is open, before the first, or for whoever has left', () => {
    expect(disputeLines({ round: { state: 'open' }, carried: [finding], reviews: [] })).toEqual([]);
    expect(disputeLines({ round: null })).toEqual([]);
    expect(disputeLines(null)).toEqual([]);
  });
});
