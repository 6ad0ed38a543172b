import { describe, expect, test } from 'vitest';
import { chipsOf, offersOf } from '../../workflows/barista/status.js';
import type { ClockedRoom } from '../support/clocked-room.js';
import { DAY, SECOND, around, at, closed, nextCommit, notes, opened } from './support.js';

type Move = (room: ClockedRoom) => ClockedRoom;

const accept: Move = (room) => room.answer('cy', 'f1', 'accept');
const reject: Move = (room) => room.answer('cy', 'f1', 'reject', `no, at ${room.age}`);
const silent: Move = (room) =>
  room
    .submit('ana', { summary: `at ${room.age}` })
    .submit('bo', { summary: `at ${room.age}` })
    .pass(0);

/** Round 2 is open on another commit, with f1 carried as it was left. */
const round2 = (left: Move, author = true): ClockedRoom => nextCommit(left(closed({ author })));
/** Round 2 is closed, and its reviewers had nothing to say. */
const round2Closed = (left: Move, author = true): ClockedRoom => silent(round2(left, author));

describe('B11, B18: waiting for a push, or asking for the draft', () => {
  const table: [string, (room: ClockedRoom) => ClockedRoom, boolean, string][] = [
    ['an unanswered finding needs a fix', (room) => room, true, 'wait: fixes_not_pushed 1443'],
    ['one accepted on this commit too', accept, true, 'wait: fixes_not_pushed 1443'],
    ['a rejected one holds', reject, true, 'wait: uphold_window 33'],
    ['an upheld one needs a fix', (room) => reject(room).resolve('ana', 'f1', 'upheld'), true, 'wait: fixes_not_pushed 1443'],
    ['a fixed one holds nothing', (room) => accept(room).resolve('ana', 'f1', 'fixed'), true, 'askDraft'],
    ['a withdrawn one holds nothing', (room) => reject(room).resolve('ana', 'f1', 'withdrawn'), true, 'askDraft'],
    ["without an author, one raised on the round's own commit needs a fix", (room) => room, false, 'wait: fixes_not_pushed 1443'],
    ['one that was deleted with its raiser holds nothing: the lead is gone too', (room) => room.delete('ana'), false, 'handOff'],
  ];
  test.each(table)('B10, B11: %s', (_what, happens, author, expected) => {
    expect(at(happens(closed({ author })), 3)).toBe(expected);
  });

  test('B10: a nit holds nothing, unanswered, rejected or upheld', () => {
    const nit = (move: Move = (room) => room): string =>
      at(
        move(
          opened({ author: true })
            .submit('ana', { findings: [{ severity: 'nit' }] })
            .close('ana'),
        ),
        2,
      );
    expect([nit(), nit(reject), nit(accept), nit((room) => reject(room).resolve('ana', 'f1', 'upheld'))]).toEqual(
      Array(4).fill('askDraft'),
    );
  });

  test('B18: a round without a finding is drafted at once, and nobody drafts before the ask', () => {
    const room = opened().submit('ana').submit('bo');
    expect(room.refused((it) => it.draft('ana')).code).toBe('round_open');
    expect(closed().refused((it) => it.draft('ana')).code).toBe('too_soon');
    expect(notes(room.pass(0), /draft/)).toEqual(['2 @ana: draft the review of round 1 with draft_review']);
    expect(room.draft('ana').state.draft).toMatchObject({ round: 1, draftedBy: 'ag_ana' });
  });

  test('B18: a person who leads drafts before the ask, but not before the close', () => {
    const room = opened().roles({ olga: ['lead'], ana: ['reviewer'] });
    expect(room.refused((it) => it.draft('olga')).code).toBe('round_open');
    room
      .submit('ana', { findings: [{}] })
      .submit('bo')
      .pass(0)
      .draft('olga');
    expect(at(room, 2_000)).toBe('wait');
  });

  test('B12, B18: while the next round is coming nobody is asked, whatever needs a fix', () => {
    const room = opened().submit('ana').submit('bo').pushUnheard('b2').pass(1);
    expect(notes(room, /draft the review/)).toEqual([]);
    expect(notes(room.pass(1), /opened/)).toEqual([
      expect.stringMatching(/^2/),
      '4 round 2 opened at b200000; reviewers: @ana and @bo; 0 findings carried',
    ]);
  });
});

describe('B12, B13: the next round', () => {
  test('B12: once the head has been quiet for 2 minutes; three pushes open one round', () => {
    const room = closed().pass(10).push('b2');
    expect(around(room, 15)).toEqual(['wait: head_quiet 15', 'openRound', 'openRound']);
    room.pass(1).push('c3').pass(1).push('d4').pass(10);
    expect(notes(room, /opened/)).toEqual([
      expect.stringMatching(/^2/),
      '17 round 2 opened at d400000; reviewers: @ana and @bo; 1 finding carried',
    ]);
  });

  test("B12: a head forced back to the round's commit is no new head", () => {
    const room = closed().push('b2').pass(1).push('a1').pass(60);
    expect(room.state.round?.number).toBe(1);
    expect(at(room, 64)).toBe('wait: fixes_not_pushed 1443');
  });

  test('B12: whether or not a draft exists, also after posting', () => {
    const drafted = opened().submit('ana').submit('bo').pass(0).draft('ana');
    expect(around(drafted.push('b2'), 4)).toEqual(['wait: head_quiet 4', 'openRound', 'openRound']);
    const posted = opened().submit('ana').submit('bo').pass(0).draft('ana').post();
    expect(at(posted, 5_000)).toBe('wait');
    expect(around(posted.push('b2'), 4)).toEqual(['wait: head_quiet 4', 'openRound', 'openRound']);
  });
});

describe('B14: the uphold window', () => {
  test('B14: 30 minutes from the close', () => {
    const room = reject(opened({ author: true }).submit('ana', { findings: [{}] }))
      .pass(1)
      .close('ana');
    expect(around(room, 33)).toEqual(['wait: uphold_window 33', 'askDraft', 'askDraft']);
  });

  test("B14: or from the author's answer, whichever is later; from the last of several", () => {
    const room = reject(closed({ author: true, findings: 2 }).pass(17)).resolve('ana', 'f2', 'fixed');
    expect(around(room, 50)).toEqual(['wait: uphold_window 50', 'askDraft', 'askDraft']);
    reject(room.pass(20));
    expect(around(room, 70)).toEqual(['wait: uphold_window 70', 'askDraft', 'askDraft']);
  });

  test('B14: upheld at minute 29 needs a fix; at minute 31 the draft is asked for already', () => {
    expect(
      at(
        reject(closed({ author: true }))
          .pass(29)
          .resolve('ana', 'f1', 'upheld'),
        33,
      ),
    ).toBe('wait: fixes_not_pushed 1443');
    const late = reject(closed({ author: true }))
      .pass(31)
      .resolve('ana', 'f1', 'upheld');
    expect(notes(late.pass(1), /draft the review/)).toEqual(['33 @ana: draft the review of round 1 with draft_review']);
    expect(at(late, 35)).toMatch(/^wait: draft_reminder 43/);
  });

  test('B18: an uphold after its 30 minutes but before the ask counts', () => {
    const room = reject(closed({ author: true, findings: 2 }));
    room.answer('cy', 'f2', 'accept').pass(60).resolve('ana', 'f1', 'upheld').resolve('ana', 'f2', 'fixed');
    expect(at(room, 63)).toBe('wait: fixes_not_pushed 1443');
  });

  test('B14: roles changed in mid-clock change nothing in it', () => {
    const room = reject(closed({ author: true }))
      .pass(5)
      .roles({ ana: ['lead'] });
    expect(around(room, 33)).toEqual(['wait: uphold_window 33', 'askDraft', 'askDraft']);
    expect(at(room.delete('ana'), 9)).toBe('handOff');
  });
});

describe('B15: a dispute', () => {
  const dispute = (room: ClockedRoom): ClockedRoom => reject(reject(room).pass(1).resolve('ana', 'f1', 'upheld').pass(1));

  test('B15: no clock runs and nobody is asked; the offer and the chip show, and a push opens the next round', () => {
    const room = dispute(closed({ author: true }));
    expect([at(room, 5_000), chipsOf(room.state, {}, room.now), offersOf(room.state)]).toEqual(['wait', ['dispute'], ['final_draft']]);
    expect(around(room.push('b2'), room.age + 2)).toEqual([`wait: head_quiet ${room.age + 2}`, 'openRound', 'openRound']);
  });

  test("B15: the other findings' clocks go on", () => {
    const room = dispute(closed({ author: true, findings: 2 }));
    expect(at(room, 10)).toBe('wait: fixes_not_pushed 1443');
    expect(at(room.resolve('ana', 'f2', 'fixed'), 10)).toBe('wait');
  });

  test('B15, B22: while disputes are all that needs a fix, fixes not pushed does not come, and what came before goes', () => {
    const room = dispute(closed({ author: true, findings: 2 }));
    room.pass(DAY);
    expect(chipsOf(room.state, {}, room.now)).toEqual(['dispute', 'fixes not pushed']);
    expect(chipsOf(room.resolve('ana', 'f2', 'fixed').state, {}, room.now)).toEqual(['dispute']);
  });

  test('B15: carried as a dispute; settled or accepted it ends', () => {
    const carried = silent(nextCommit(dispute(closed({ author: true }))));
    expect([at(carried, carried.age), chipsOf(carried.state, {}, carried.now)]).toEqual(['wait', ['dispute']]);
    expect(at(accept(carried), carried.age)).toMatch(/^wait: fixes_not_pushed/);
    expect(at(carried.resolve('ana', 'f1', 'withdrawn'), carried.age)).toBe('askDraft');
  });
});

describe('B16: verifying', () => {
  test('B16: an accepted, carried finding holds 30 minutes from the close of the round on the new head', () => {
    const room = round2Closed(accept);
    expect(around(room, room.age + 30)).toEqual([`wait: verify_window ${room.age + 30}`, 'askDraft', 'askDraft']);
  });

  test('B16: it ends early once marked fixed', () => {
    const room = round2Closed(accept).pass(3).resolve('ana', 'f1', 'fixed');
    expect(at(room, room.age)).toBe('askDraft');
  });

  test('B16: marked in the round it holds nothing; still broken it needs a fix', () => {
    expect(at(silent(round2(accept).resolve('ana', 'f1', 'fixed')), 5)).toBe('wait: draft_reminder 15, draft_handoff 35');
    const broken = round2(accept)
      .submit('ana', { references: [['f1', 'agree']] })
      .submit('bo');
    expect(at(broken.pass(0), broken.age)).toBe(`wait: fixes_not_pushed ${broken.age + DAY}`);
  });

  test("B16: a raiser's dispute of its own finding is no mark", () => {
    const room = round2(accept)
      .submit('ana', { references: [['f1', 'dispute']] })
      .submit('bo')
      .pass(0);
    expect(at(room, room.age)).toBe(`wait: verify_window ${room.age + 30}`);
  });

  test("B16: a person's finding runs 30 minutes, reviewed or not, with or without the role", () => {
    const pias = (): ClockedRoom => {
      const room = opened({ author: true })
        .join('pia')
        .roles({ pia: ['reviewer'] });
      room
        .submit('pia', { findings: [{}] })
        .submit('ana')
        .submit('bo')
        .pass(0)
        .answer('cy', 'f1', 'accept');
      return nextCommit(room);
    };
    const unreviewed = pias().submit('ana').submit('bo').decline('pia').pass(0);
    expect(at(unreviewed, unreviewed.age)).toBe(`wait: verify_window ${unreviewed.age + 30}`);
    const noRole = pias().roles({ pia: [] }).submit('ana').submit('bo').pass(0);
    expect(at(noRole, noRole.age)).toBe(`wait: verify_window ${noRole.age + 30}`);
  });

  test('B16, B17: without an author they run alike for what is carried from another commit', () => {
    const room = round2Closed((it) => it, false);
    expect(at(room, room.age)).toBe(`wait: verify_window ${room.age + 30}`);
    expect(at(room.roles({ ana: ['lead'] }), room.age)).toBe(`wait: lost_raiser_window ${room.age + 10}`);
  });
});

describe('B17: a lost raiser', () => {
  const lost: [string, Move][] = [
    ['lost the reviewer role', (room) => silent(room.roles({ bo: ['reviewer'], ana: ['reviewer', 'lead'] })).roles({ ana: ['lead'] })],
    ['did not review the round', (room) => room.decline('ana').submit('bo').pass(0)],
    [
      'has left',
      (room) =>
        silent(room)
          .leave('ana')
          .roles({ bo: ['lead', 'reviewer'] }),
    ],
  ];
  test.each(lost)('B17: one that %s: 10 minutes from the close', (_what, happens) => {
    const room = happens(round2(accept));
    const end = room.age + 10;
    expect(around(room, end)).toEqual([`wait: lost_raiser_window ${end}`, 'askDraft', 'askDraft']);
    expect(at(room.resolve('bo', 'f1', 'fixed'), room.age)).toBe('askDraft');
  });

  test('B17: the role lost in mid-clock: the 10 minutes count from the close all the same', () => {
    const room = round2Closed(accept);
    const end = room.age + 10;
    expect(at(room.pass(5).roles({ ana: ['lead'] }), room.age)).toBe(`wait: lost_raiser_window ${end}`);
    const late = round2Closed(accept).pass(15);
    expect(at(late.roles({ ana: ['lead'] }), late.age)).toBe('askDraft');
  });
});

describe("B10: the rule's three examples, with their clocks", () => {
  test("B10: a carried rejected finding nobody touches holds 30 minutes from round 2's close", () => {
    const room = round2Closed(reject);
    expect(around(room, room.age + 30)).toEqual([`wait: uphold_window ${room.age + 30}`, 'askDraft', 'askDraft']);
  });

  test('B10: one unanswered, pushed, then accepted in round 2 needs a fix until its raiser marks it', () => {
    const room = silent(accept(round2((it) => it)));
    expect(at(room, room.age)).toBe(`wait: fixes_not_pushed ${room.age + DAY}`);
    expect(at(room.resolve('ana', 'f1', 'fixed'), room.age)).toBe('askDraft');
  });

  test('B10: round 2 opened by hand on the same commit still needs it', () => {
    const room = silent(accept(closed({ author: true })).open('ana'));
    expect([room.state.round?.number, at(room, 4)]).toEqual([2, 'wait: fixes_not_pushed 1443']);
  });
});

describe('B22: fixes not pushed', () => {
  const state = (room: ClockedRoom): unknown => [chipsOf(room.state, {}, room.now), offersOf(room.state)];

  test('B22: 24 hours after the close, said once; the chip goes with the next push, the offer until something opens', () => {
    const room = closed({ author: true });
    expect(around(room, 3 + DAY)).toEqual(['wait: fixes_not_pushed 1443', 'noteFixesNotPushed', 'noteFixesNotPushed']);
    expect(state(room.pass(DAY - 1))).toEqual([[], []]);
    expect(state(room.pass(1))).toEqual([['fixes not pushed'], ['final_draft']]);
    expect(at(room, 10 * DAY)).toBe('wait');
    expect(state(room.push('b2'))).toEqual([[], []]);
    expect(notes(room, /fixes were pushed/)).toEqual([
      '1443 no fixes were pushed within 1 day of the close; @olga can have the final draft now',
    ]);
  });

  test('B22: where nobody holds the author role the offer shows from the close on, the chip does not', () => {
    expect(state(closed())).toEqual([[], ['final_draft']]);
    expect(state(closed().roles({ bo: ['author', 'reviewer'] }))).toEqual([[], []]);
  });

  test('B26: what has run out while Barista was off has run out', () => {
    const room = closed({ author: true }).barista(false).pass(DAY);
    expect(at(room, room.age)).toBe('wait');
    expect(at(room.barista(true), room.age)).toBe('noteFixesNotPushed');
    const held = reject(closed({ author: true }))
      .barista(false)
      .pass(40)
      .barista(true);
    expect(at(held, held.age)).toBe('askDraft');
  });

  test('P4: a push that nobody told of is seen before it is said', () => {
    const room = closed({ author: true }).pushUnheard('b2').pass(DAY);
    expect(notes(room, /fixes were pushed/)).toEqual([]);
    expect(notes(room.pass(5), /round 2 opened/)).toEqual([expect.stringMatching(/^1445 /)]);
  });
});

test('B13, B24: after round 5 no round is opened: said once, offered at once, no fixes asked for after a push, and a stale draft noted once', () => {
  const room = closed({ author: true });
  for (let number = 2; number <= 5; number += 1) silent(nextCommit(room));
  const end = room.age;
  expect(room.state.round).toMatchObject({ number: 5 });
  expect(notes(room, /last one/)).toEqual([
    `${end} round 5 was the last one Barista opens; for another, ask the lead to call open_review_round`,
  ]);
  expect([offersOf(room.state), at(room, end)]).toEqual([['final_draft'], `wait: fixes_not_pushed ${end + DAY}`]);
  room.push('f9');
  expect([offersOf(room.state), at(room, end + 2 * DAY)]).toEqual([['final_draft'], 'wait']);
  room.run({ type: 'finalDraft', by: 'us_olga' }).pass(0);
  expect(notes(room, /as the round is/)).toEqual([`${end} @ana: draft the review of round 5 with draft_review, as the round is`]);
  room.draft('ana').pass(0);
  expect(chipsOf(room.state, {}, room.now)).toEqual(['draft stale']);
  expect(notes(room.push('a9').pass(60), /may be posted as it is/)).toEqual([
    `${end} the head moved to f900000: the draft reviews ${room.state.round!.headSha.slice(0, 7)} and may be posted as it is`,
  ]);
});

test('B13: a sixth round, opened by the lead, it closes and drafts like any other, and does not say it again', () => {
  const room = closed({ author: true });
  for (let number = 2; number <= 5; number += 1) silent(nextCommit(room));
  silent(room.resolve('ana', 'f1', 'fixed').push('f9').open('ana'));
  expect([room.state.round?.number, notes(room, /last one/).length]).toEqual([6, 1]);
  expect(notes(room, /draft the review of round 6/)).toHaveLength(1);
});

describe('P5, R12: the end', () => {
  const week = 7 * DAY;
  test.each(['merged', 'closed'] as const)('R12: a room ends 7 days after the pull request was %s, Barista on or off', (state) => {
    const room = closed().pullRequest(state);
    expect(around(room, 3 + week)).toEqual([`wait: room_end ${3 + week}`, 'endRoom', 'endRoom']);
    expect(at(closed().barista(false).pullRequest(state), 3 + week)).toBe('endRoom');
    expect(room.pass(week).state.ended).toMatchObject({ reason: state });
    expect(at(room, 2 * week)).toBe('wait');
  });

  test('P5: reopened, the room goes on; the 7 days begin anew with the next close', () => {
    const room = reject(closed({ author: true }))
      .pullRequest('closed')
      .pass(100)
      .pullRequest('open');
    expect(at(room, room.age)).toBe('askDraft');
    expect(at(room.pass(0).pullRequest('closed'), 3 + week)).toBe(`wait: room_end ${103 + week}`);
  });

  test('R12: not while the review is being posted', () => {
    const room = opened().submit('ana').submit('bo').pass(0).draft('ana').startPosting().pullRequest('merged');
    expect(at(room, 2 + week)).toBe('wait');
    expect(at(room.emit({ type: 'DraftPosted', url: null, unplaced: [] }), 2 + week + SECOND)).toBe('endRoom');
  });
});
