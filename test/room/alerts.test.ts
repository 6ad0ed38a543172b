import { describe, expect, test } from 'vitest';
import { alertsOf, type Alert } from '../../workflows/room/alerts.js';
import { apply } from '../../workflows/room/apply.js';
import type { RoomState } from '../../workflows/room/state.js';
import type { AlertKind } from '../../workflows/room/words.js';
import { MINUTE, NOON, aRoom, type RoomInput, type TestRoom } from '../support/room.js';

/** Every alert of a room's life so far, as the projector works them out. */
function alertsIn(room: TestRoom): Alert[] {
  let before: RoomState | null = null;
  return room.events.flatMap((event) => {
    const after = apply(before, event);
    const alerts = alertsOf(before, event, after);
    before = after;
    return alerts;
  });
}

const told = (room: TestRoom): string[] => alertsIn(room).map(({ kind, round, text }) => `${kind} ${round} ${text}`);

const panel = (input: RoomInput = {}): TestRoom =>
  aRoom({ barista: true, ...input })
    .join('ana', 'bo')
    .open('ana');
const reviewed = (): TestRoom =>
  panel()
    .submit('ana', { findings: [{}] })
    .submit('bo');
const asked = (): TestRoom =>
  reviewed()
    .baristaCloses()
    .emit({ type: 'DraftAsked', leads: ['ag_ana'], why: 'ready' });
const drafted = (): TestRoom => asked().draft('ana', { verdict: 'request_changes', findings: [{}] });
/** ada is the author, ben leads and reviews; round 1 is open. */
const duel = (): TestRoom => aRoom({ barista: true, recipe: 'build_duel' }).join('ada', 'ben').open('ben');
const rejected = (): TestRoom =>
  duel()
    .submit('ben', { findings: [{}] })
    .baristaCloses()
    .answer('ada', 'f1', 'reject', 'no');
const disputed = (): TestRoom => rejected().resolve('ben', 'f1', 'upheld').answer('ada', 'f1', 'reject', 'still no');

describe('B29: each kind, once, as one sentence', () => {
  test.each<[AlertKind, () => TestRoom, string]>([
    ['draft_ready', drafted, '1 @ana drafted the review of round 1 (request_changes, 1 finding): edit and post it.'],
    [
      'assembled',
      () =>
        reviewed()
          .baristaCloses()
          .emit({ type: 'DraftSaved', round: 1, headSha: 'a1', verdict: 'comment', body: 't', findings: [], by: 'barista', version: 1 }),
      '1 No agent drafted round 1, so Barista assembled the draft from the reviews: check it before you post it.',
    ],
    ['dispute', disputed, '1 Finding f1 of @ben (src/a.ts:10) was upheld and rejected again: you decide.'],
    [
      'fixes_not_pushed',
      () => reviewed().baristaCloses().emit({ type: 'FixesNotPushedNoted' }),
      '1 No fixes were pushed within 1 day of the close of round 1: you can have the final draft now.',
    ],
    [
      'no_review',
      () => panel().after(30).emit({ type: 'IdleRanOut', number: 1 }),
      '1 Round 1 has no review: whoever it waits for has been idle for 30 minutes. It needs a reviewer.',
    ],
    [
      'forge_broken',
      () => aRoom().after(6).emit({ type: 'ForgeBroken', since: NOON, trouble: 'unavailable' }),
      'null The pull request cannot be read for 6 minutes now: the forge does not answer. Barista goes on by itself once it does.',
    ],
  ])('%s', (kind, room, rest) => {
    expect(told(room())).toEqual([`${kind} ${rest}`]);
  });

  test('posting_failed: each try that failed is told', () => {
    const room = drafted().startPosting().emit({ type: 'PostingFailed', reason: 'the branch is protected' });
    room.startPosting().emit({ type: 'PostingFailed', reason: 'the branch is gone' });
    expect(told(room).slice(1)).toEqual([
      'posting_failed 1 The review of round 1 could not be posted: the branch is protected',
      'posting_failed 1 The review of round 1 could not be posted: the branch is gone',
    ]);
  });

  test('every alert leads to its room', () => {
    expect(alertsIn(drafted())).toMatchObject([{ room: 'quiet-river', link: '/rooms/quiet-river' }]);
  });

  test('what needs nobody tells nobody: joining, opening, submitting, closing, asking, editing, posting', () => {
    expect(told(asked())).toEqual([]);
    expect(told(drafted().edit().post())).toHaveLength(1);
  });
});

test('B29: a draft that replaces another is told; one the owner wrote is not', () => {
  expect(alertsIn(drafted().draft('ana')).map(({ subject }) => subject)).toEqual(['1', '2']);
  const led = aRoom()
    .join('ana')
    .roles({ olga: ['lead'], ana: ['reviewer'] })
    .open('olga')
    .submit('ana')
    .close('olga')
    .draft('olga');
  expect(told(led)).toEqual([]);
});

describe('B29: no review', () => {
  test('all declined is told at once, and past B7 what is over', () => {
    const declined = panel().decline('ana').decline('bo').emit({ type: 'NoReviewNoted', number: 1 });
    expect(told(declined)).toEqual(['no_review 1 Round 1 has no review: nobody is left to wait for. It needs a reviewer.']);
    const late = panel().after(90).emit({ type: 'NoReviewNoted', number: 1 });
    expect(told(late)).toEqual(['no_review 1 Round 1 has no review: its time is over. It needs a reviewer.']);
  });

  test('past B6 and then past B7 it is told once a round, and in the next round again', () => {
    const room = panel().after(30).emit({ type: 'IdleRanOut', number: 1 }).after(60).emit({ type: 'NoReviewNoted', number: 1 });
    expect(told(room)).toHaveLength(1);
    room.submit('ana').baristaCloses('cap').push('b2').baristaOpens().after(30).emit({ type: 'IdleRanOut', number: 2 });
    expect(alertsIn(room).map(({ kind, round }) => [kind, round])).toEqual([
      ['no_review', 1],
      ['no_review', 2],
    ]);
  });
});

describe('B29: forge broken', () => {
  test.each([
    ['limited', "the forge's rate limit is used up. Barista goes on by itself once it has run out."],
    ['not_found', 'the repository or pull request is not there any more, or not for Barista.'],
    ['refused', "the forge refuses Barista's access. Check its connection, e.g. with barista doctor."],
    ['invalid', 'the forge does not take the request. Run barista doctor.'],
  ] as const)('%s says who must act', (trouble, text) => {
    const room = panel().after(5).emit({ type: 'ForgeBroken', since: NOON, trouble });
    expect(told(room)).toEqual([`forge_broken 1 The pull request cannot be read for 5 minutes now: ${text}`]);
  });

  test('it is told again after it was mended, and not of a pull request that is over', () => {
    const room = panel().emit({ type: 'ForgeBroken', since: NOON, trouble: 'unavailable' }).after(9);
    expect(room.state.head.brokenSince).toBe(NOON);
    room.emit({ type: 'ForgeMended' });
    expect(room.state.head.brokenSince).toBeNull();
    room.emit({ type: 'ForgeBroken', since: NOON + 20 * MINUTE, trouble: 'unavailable' });
    expect(alertsIn(room).map(({ subject }) => subject)).toEqual([`${NOON}`, `${NOON + 20 * MINUTE}`]);
    const merged = panel().pullRequest('merged').emit({ type: 'ForgeBroken', since: NOON, trouble: 'not_found' });
    expect(told(merged)).toEqual([]);
  });
});

describe('B29, B15: disputes', () => {
  test('a rejection alone, or an uphold alone, is none', () => {
    expect(told(rejected())).toEqual([]);
    expect(told(rejected().resolve('ben', 'f1', 'upheld'))).toEqual([]);
  });

  test('upholding or rejecting again, and being carried, tell nothing more', () => {
    const room = disputed().after(1).resolve('ben', 'f1', 'upheld').answer('ada', 'f1', 'reject', 'no!').push('b2').baristaOpens();
    expect(room.state.round!.carried).toEqual(['f1']);
    expect(told(room)).toHaveLength(1);
  });

  test('D8: none of a round that is posted; in the next one it is told', () => {
    const room = rejected()
      .baristaCloses()
      .resolve('ben', 'f1', 'upheld')
      .emit({ type: 'DraftAsked', leads: ['ag_ben'], why: 'ready' })
      .draft('ben')
      .post()
      .after(1)
      .answer('ada', 'f1', 'reject', 'still no');
    expect(told(room).filter((alert) => alert.startsWith('dispute'))).toEqual([]);
    room.after(1).push('b2').baristaOpens();
    expect(told(room).at(-1)).toBe('dispute 2 Finding f1 of @ben (src/a.ts:10) was upheld and rejected again: you decide.');
  });

  test('one that ended and began anew is told again', () => {
    const room = disputed().after(1).answer('ada', 'f1', 'accept').after(1).answer('ada', 'f1', 'reject', 'after all');
    expect(alertsIn(room).map(({ kind }) => kind)).toEqual(['dispute', 'dispute']);
    expect(new Set(alertsIn(room).map(({ subject }) => subject)).size).toBe(2);
  });

  test('V2: one that rests on a review hidden from an owner who reviews is told when the round closes, not before', () => {
    const room = rejected()
      .after(1)
      .push('b2')
      .roles({ olga: ['reviewer'] })
      .baristaOpens();
    room
      .after(1)
      .submit('ben', { references: [['f1', 'agree']] })
      .after(1)
      .answer('ada', 'f1', 'reject', 'as before');
    expect(told(room)).toEqual([]);
    room.baristaCloses('idle');
    expect(told(room)).toEqual(['dispute 2 Finding f1 of @ben (src/a.ts:10) was upheld and rejected again: you decide.']);
  });

  test('V2: it is told as soon as the owner has submitted, and one hidden and shown again is the same alert', () => {
    const hidden = rejected()
      .after(1)
      .push('b2')
      .roles({ olga: ['reviewer'] })
      .baristaOpens();
    hidden
      .after(1)
      .submit('ben', { references: [['f1', 'agree']] })
      .after(1)
      .answer('ada', 'f1', 'reject', 'as before');
    hidden.submit('olga');
    expect(told(hidden)).toHaveLength(1);

    const seen = rejected().after(1).push('b2').baristaOpens();
    seen
      .after(1)
      .submit('ben', { references: [['f1', 'agree']] })
      .after(1)
      .answer('ada', 'f1', 'reject', 'as before');
    expect(alertsIn(seen)).toHaveLength(1);
    seen.roles({ olga: ['reviewer'] }).baristaCloses('idle');
    expect(new Set(alertsIn(seen).map(({ subject }) => subject)).size).toBe(1);
  });
});
