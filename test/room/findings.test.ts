import { describe, expect, test } from 'vitest';
import { findingOf, isDisputed, needsFix, standingOf, stateOf } from '../../workflows/room/findings.js';
import type { Finding } from '../../workflows/room/state.js';
import type { FindingState, Severity, Standing } from '../../workflows/room/words.js';
import { type TestRoom, aRoom } from '../support/room.js';

/** What is worked out of f1: its state, whether it needs a fix, and its standing. */
type Worked = [FindingState, boolean, Standing | null];
const f1 = (room: TestRoom): Finding => findingOf(room.state, 'f1')!;
const worked = (room: TestRoom): Worked => [
  stateOf(room.state, f1(room)),
  needsFix(room.state, f1(room)),
  standingOf(room.state, f1(room)),
];
const disputed = (room: TestRoom): boolean => isDisputed(room.state, f1(room));

type Move = (room: TestRoom) => TestRoom;
const chain =
  (...moves: Move[]): Move =>
  (room) =>
    moves.reduce((now, move) => move(now.after(1)), room);

/** Round 1, closed, with ana's f1; pia is the author unless said otherwise. */
const round1 = (severity: Severity = 'major', author = true): TestRoom => {
  const room = aRoom().join('ana', 'grok', 'pia');
  if (author) room.roles({ pia: ['author'] });
  return room
    .open('ana')
    .submit('ana', { findings: [{ severity }] })
    .submit('grok')
    .close('ana');
};
const accept: Move = (room) => room.answer('pia', 'f1', 'accept', `accepted at ${room.now}`);
const reject: Move = (room) => room.answer('pia', 'f1', 'reject', `no, at ${room.now}`);
const upheld: Move = (room) => room.resolve('ana', 'f1', 'upheld');
const fixed: Move = (room) => room.resolve('ana', 'f1', 'fixed');
const withdrawn: Move = (room) => room.resolve('ana', 'f1', 'withdrawn');
const noAuthor: Move = (room) => room.roles({ pia: [] });
const anAuthor: Move = (room) => room.roles({ pia: ['author'] });
const push: Move = (room) => room.push(room.state.head.sha.startsWith('b2') ? 'c3' : 'b2');
const open: Move = (room) => room.open('ana');
const close: Move = (room) =>
  room.state.round!.reviews.some((review) => review.by === 'ag_ana') ? room.close('ana') : room.decline('ana').close('ana');
const agrees: Move = (room) => room.submit('ana', { references: [['f1', 'agree']] });
const agreesAgain: Move = (room) => room.after(1).submit('ana', { summary: 'once more', references: [['f1', 'agree']] });
const disputes: Move = (room) => room.submit('ana', { references: [['f1', 'dispute']] });
const silent: Move = (room) => room.submit('ana');
const grokAgrees: Move = (room) => room.submit('grok', { references: [['f1', 'agree']] });
const finalDraft: Move = (room) => room.emit({ type: 'FinalDraftTaken', by: 'us_olga' });
const newCommit = chain(push, open);

describe('B10: what needs a fix, with an author', () => {
  const table: [string, Move, Worked][] = [
    ['unanswered', chain(), ['open', true, 'needs_fix']],
    ['unanswered, carried to another commit', newCommit, ['open', true, 'needs_fix']],
    ["accepted on the round's own commit", accept, ['accepted', true, 'needs_fix']],
    ["accepted after a push, but before the next round: on the round's own commit", chain(push, accept), ['accepted', true, 'needs_fix']],
    ['accepted, carried to another commit', chain(accept, newCommit), ['accepted', false, 'not_verified']],
    ['accepted, and the next round opened by hand on the same commit', chain(accept, open), ['accepted', true, 'needs_fix']],
    ['accepted in the later round', chain(newCommit, accept), ['accepted', true, 'needs_fix']],
    ['accepted again in the later round: the first commit is kept', chain(accept, newCommit, accept), ['accepted', false, 'not_verified']],
    ['accepted, rejected, accepted in the later round', chain(accept, newCommit, reject, accept), ['accepted', true, 'needs_fix']],
    [
      'accepted, pushed, and the head forced back to that commit',
      chain(accept, newCommit, close, (room) => room.push('a1'), open),
      ['accepted', true, 'needs_fix'],
    ],
    ['rejected', reject, ['rejected', false, 'rejected']],
    ['upheld', chain(reject, upheld), ['upheld', true, 'needs_fix']],
    ['upheld, carried to another commit', chain(reject, upheld, newCommit), ['upheld', true, 'needs_fix']],
    ['upheld, then accepted and pushed', chain(reject, upheld, accept, newCommit), ['accepted', false, 'not_verified']],
    ['fixed', fixed, ['fixed', false, null]],
    ['withdrawn', chain(reject, withdrawn), ['withdrawn', false, null]],
    ['accepted earlier, and its raiser agrees it still stands', chain(accept, newCommit, agrees), ['accepted', true, 'needs_fix']],
    ['accepted earlier, and another reviewer agrees', chain(accept, newCommit, grokAgrees), ['accepted', false, 'not_verified']],
    ['accepted earlier, and its raiser disputes it', chain(accept, newCommit, disputes), ['accepted', false, 'not_verified']],
    ['rejected earlier, and its raiser agrees it still stands', chain(reject, newCommit, agrees), ['rejected', true, 'needs_fix']],
    [
      'still broken in an earlier round only',
      chain(accept, newCommit, agrees, close, newCommit, silent),
      ['accepted', false, 'not_verified'],
    ],
    ['still broken, then fixed', chain(accept, newCommit, agrees, fixed), ['fixed', false, null]],
  ];
  test.each(table)('B10: %s', (_what, happens, expected) => {
    expect(worked(happens(round1()))).toEqual(expected);
  });
});

describe('B10: what needs a fix where nobody holds the author role now', () => {
  const table: [string, Move, Worked][] = [
    ["raised on the round's own commit", chain(), ['open', true, 'needs_fix']],
    ["raised on the round's own commit, the round opened again on it", open, ['open', true, 'needs_fix']],
    ['carried from another commit: counts as accepted earlier', newCommit, ['open', false, 'not_verified']],
    ['carried from another commit, its raiser agrees it still stands', chain(newCommit, agrees), ['open', true, 'needs_fix']],
    [
      "raised on the round's own commit, and accepted while there was an author",
      chain(anAuthor, accept, noAuthor),
      ['accepted', true, 'needs_fix'],
    ],
    ["raised on the round's own commit, and rejected", chain(anAuthor, reject, noAuthor), ['rejected', false, 'rejected']],
    [
      "accepted on the round's own commit, but raised on another",
      chain(anAuthor, newCommit, accept, noAuthor),
      ['accepted', false, 'not_verified'],
    ],
    ['upheld', chain(anAuthor, reject, upheld, noAuthor, newCommit), ['upheld', true, 'needs_fix']],
    ['in dispute', chain(anAuthor, reject, upheld, reject, noAuthor, newCommit), ['disputed', true, 'disputed']],
  ];
  test.each(table)('B10: %s', (_what, happens, expected) => {
    expect(worked(happens(round1('major', false)))).toEqual(expected);
  });

  test('B10: an author that has left, or a person who is the author, counts as such', () => {
    expect(worked(newCommit(round1()).leave('pia'))).toEqual(['open', false, 'not_verified']);
    expect(worked(newCommit(round1('major', false)).roles({ olga: ['author'] }))).toEqual(['open', true, 'needs_fix']);
  });
});

describe('B10: a nit', () => {
  const moves: [string, Move, Standing | null][] = [
    ['unanswered', chain(), 'nit'],
    ['accepted', accept, 'nit'],
    ['rejected', reject, 'nit'],
    ['upheld', chain(reject, upheld), 'nit'],
    ['rejected again after it was upheld', chain(reject, upheld, reject), 'nit'],
    ['still broken', chain(newCommit, agrees), 'nit'],
    ['fixed', fixed, null],
  ];
  test.each(moves)('B10: %s, it never needs a fix nor is in dispute', (_what, happens, standing) => {
    const room = happens(round1('nit'));
    expect([needsFix(room.state, f1(room)), disputed(room), standingOf(room.state, f1(room))]).toEqual([false, false, standing]);
  });

  test.each(['blocker', 'minor'] as const)('B10: a %s is no nit', (severity) => {
    expect(worked(round1(severity))).toEqual(['open', true, 'needs_fix']);
  });
});

describe("B10: the rule's own examples", () => {
  test('B10: a carried rejected finding that nobody touches in round 2 needs no fix and is drafted as rejected', () => {
    expect(worked(chain(reject, newCommit, silent, close)(round1()))).toEqual(['rejected', false, 'rejected']);
  });

  test('B10: one unanswered, pushed, then accepted in round 2 needs a fix until its raiser marks it', () => {
    const room = chain(newCommit, accept)(round1());
    expect(worked(room)).toEqual(['accepted', true, 'needs_fix']);
    expect(worked(chain(silent, close)(room))).toEqual(['accepted', true, 'needs_fix']);
    expect(worked(fixed(room))).toEqual(['fixed', false, null]);
  });

  test('B10: round 2 opened by hand on the same commit still needs it', () => {
    expect(worked(chain(accept, open, silent, close)(round1()))).toEqual(['accepted', true, 'needs_fix']);
  });
});

describe('B15: a dispute', () => {
  const is: [string, Move][] = [
    ['a rejection after the raiser upheld it', chain(reject, upheld, reject)],
    ['upheld in an earlier round', chain(reject, upheld, newCommit, reject)],
    ["a rejection after the raiser's agree", chain(newCommit, agrees, reject)],
    ["after the raiser's agree in an earlier round", chain(newCommit, agrees, close, newCommit, silent, reject)],
    ["after the raiser's agree two rounds ago", chain(newCommit, agrees, close, newCommit, close, newCommit, reject)],
    ['an agree that a replaced review repeats after the rejection', chain(newCommit, agrees, reject, agreesAgain)],
    ['accepted in between, then rejected again', chain(reject, upheld, accept, reject)],
    ['carried as a dispute', chain(reject, upheld, reject, newCommit)],
    ['upheld again: nothing changes', chain(reject, upheld, reject, upheld)],
    ['rejected again: nothing changes', chain(reject, upheld, reject, reject)],
  ];
  test.each(is)('B15: %s', (_what, happens) => {
    const room = happens(round1());
    expect(disputed(room)).toBe(true);
    expect(worked(room)).toEqual(['disputed', true, 'disputed']);
  });

  const isNot: [string, Move, Worked][] = [
    ['a first rejection', reject, ['rejected', false, 'rejected']],
    ['a rejection after a rejection', chain(reject, reject), ['rejected', false, 'rejected']],
    ['an agree after the rejection, without another one', chain(reject, newCommit, agrees), ['rejected', true, 'needs_fix']],
    ["another reviewer's agree", chain(newCommit, grokAgrees, reject), ['rejected', false, 'rejected']],
    ["the raiser's dispute of its own finding", chain(newCommit, disputes, reject), ['rejected', false, 'rejected']],
    ['an agree that was replaced', chain(newCommit, agrees, silent, reject), ['rejected', false, 'rejected']],
    ['ended by an accept: needs a fix on that commit', chain(reject, upheld, reject, accept), ['accepted', true, 'needs_fix']],
    ['ended by an accept on an earlier commit', chain(reject, upheld, reject, accept, newCommit), ['accepted', false, 'not_verified']],
    ['ended by being settled', chain(reject, upheld, reject, fixed), ['fixed', false, null]],
  ];
  test.each(isNot)('B15: none is %s', (_what, happens, expected) => {
    const room = happens(round1());
    expect(disputed(room)).toBe(false);
    expect(worked(room)).toEqual(expected);
  });

  test("B15: the owner's final draft ends it; the draft still names it, and a rejection after that begins a new one", () => {
    const room = chain(reject, upheld, reject, finalDraft)(round1());
    expect(worked(room)).toEqual(['rejected', false, 'disputed']);
    expect(disputed(chain(newCommit, silent)(room))).toBe(false);
    expect(disputed(reject(room.after(1)))).toBe(true);
  });

  test('B15: the final draft ends the disputes there are, and no others', () => {
    expect(disputed(chain(reject, upheld, finalDraft, reject)(round1()))).toBe(true);
  });
});

describe('D7: standings', () => {
  test('D7: every unsettled finding of the latest round has one', () => {
    const room = aRoom()
      .join('ana', 'grok', 'pia')
      .roles({ pia: ['author'] })
      .open('ana');
    room.submit('ana', { findings: [{}, {}, {}, { severity: 'nit' }, {}, {}] }).close('ana');
    room.answer('pia', 'f2', 'reject', 'no').answer('pia', 'f3', 'accept').resolve('ana', 'f6', 'fixed');
    room
      .answer('pia', 'f5', 'reject', 'no')
      .resolve('ana', 'f5', 'upheld')
      .answer('pia', 'f5', 'reject', 'really no')
      .push('b2')
      .open('ana');
    expect(room.state.findings.map((finding) => [finding.id, standingOf(room.state, finding)])).toEqual([
      ['f1', 'needs_fix'],
      ['f2', 'rejected'],
      ['f3', 'not_verified'],
      ['f4', 'nit'],
      ['f5', 'disputed'],
    ]);
  });
});
