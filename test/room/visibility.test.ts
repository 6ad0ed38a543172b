import { describe, expect, test } from 'vitest';
import { findingOf, needsFix, stateOf } from '../../workflows/room/findings.js';
import type { RoomState } from '../../workflows/room/state.js';
import { seenBy, wouldReveal } from '../../workflows/room/visibility.js';
import type { Recipe } from '../../workflows/room/words.js';
import { type TestRoom, aRoom, idOf } from '../support/room.js';

/** ana leads and reviews, grok and kim review, pia answers as the author, paul has no role. ana has submitted f1. */
const open = (recipe: Recipe = 'panel'): TestRoom =>
  aRoom()
    .join('ana', 'grok', 'kim', 'pia', 'paul')
    .run({ type: 'setRecipe', by: 'us_olga', recipe })
    .roles({ pia: ['author'] })
    .open('ana')
    .submit('ana', { findings: [{}] });
const seen = (room: TestRoom, name: string): RoomState => seenBy(room.state, idOf(name));
const reviewsSeen = (room: TestRoom, name: string): string[] => seen(room, name).round!.reviews.map((review) => review.by);
const reveals = (room: TestRoom, name: string): boolean => wouldReveal(room.state, idOf(name));

describe('who sees what', () => {
  const table: [string, (room: TestRoom) => TestRoom, string, string[]][] = [
    ['a reviewer that has not submitted', (room) => room, 'grok', []],
    ['a reviewer that declined', (room) => room.decline('grok'), 'grok', []],
    ['a reviewer that has submitted', (room) => room.submit('grok'), 'grok', ['ag_ana', 'ag_grok']],
    ['a reviewer without another review to see', (room) => room, 'ana', ['ag_ana']],
    ['the author', (room) => room, 'pia', ['ag_ana']],
    ['a member without a role', (room) => room, 'paul', ['ag_ana']],
    ['the owner', (room) => room, 'olga', ['ag_ana']],
    ['an owner who reviews', (room) => room.roles({ olga: ['reviewer'] }), 'olga', []],
    ['an author who reviews too', (room) => room.roles({ pia: ['author', 'reviewer'] }), 'pia', []],
    ['a lead who reviews and has not submitted', (room) => room.roles({ grok: ['lead', 'reviewer'] }), 'grok', []],
    ['a lead who does not review', (room) => room.roles({ grok: ['lead'] }), 'grok', ['ag_ana']],
    ['a reviewer once the round is closed', (room) => room.close('ana'), 'grok', ['ag_ana']],
  ];
  test.each(table)('V2: %s', (_who, happens, reader, reviews) => {
    const room = happens(open());
    expect(reviewsSeen(room, reader)).toEqual(reviews);
    expect(seen(room, reader).findings.map((finding) => finding.id)).toEqual(reviews.includes('ag_ana') ? ['f1'] : []);
  });

  test('V2: for a reader nobody knows no review of an open round is shown', () => {
    expect(seenBy(open().state, null).round!.reviews).toEqual([]);
    expect(seenBy(open().close('ana').state, null).round!.reviews).toHaveLength(1);
  });

  test("V2: a hidden review's references change no state, need of a fix or dispute for whom it is hidden", () => {
    const room = open()
      .answer('pia', 'f1', 'accept')
      .close('ana')
      .push('b2')
      .open('ana')
      .submit('ana', { references: [['f1', 'agree']] });
    room.answer('pia', 'f1', 'reject', 'no');
    const as = (name: string): [string, boolean] => {
      const state = seen(room, name);
      return [stateOf(state, findingOf(state, 'f1')!), needsFix(state, findingOf(state, 'f1')!)];
    };
    expect(as('pia')).toEqual(['disputed', true]);
    expect(as('grok')).toEqual(['rejected', false]);
    expect((room.submit('grok'), as('grok'))).toEqual(['disputed', true]);
  });

  test('V2: what a hidden review has said, and says again in the review that replaces it, changes no state either', () => {
    const room = open()
      .answer('pia', 'f1', 'accept')
      .close('ana')
      .push('b2')
      .open('ana')
      .after(1)
      .submit('ana', { references: [['f1', 'agree']] })
      .after(1)
      .submit('ana', { verdict: 'approve', references: [['f1', 'agree']] })
      .after(1)
      .answer('pia', 'f1', 'reject', 'no');
    const stateFor = (name: string) => stateOf(seen(room, name), findingOf(seen(room, name), 'f1')!);
    expect([stateFor('ana'), stateFor('pia'), stateFor('grok')]).toEqual(['disputed', 'disputed', 'rejected']);
    room.close('ana');
    expect(stateFor('grok')).toBe('disputed');
  });

  test('V2: a hidden finding is not there for whoever answers it', () => {
    const room = open().roles({ grok: ['author', 'reviewer'] });
    expect(room.refused((it) => it.answer('grok', 'f1', 'accept')).code).toBe('not_found');
    expect(room.refused((it) => it.resolve('kim', 'f1', 'fixed')).code).toBe('not_found');
    expect(room.submit('grok').answer('grok', 'f1', 'accept').result).toEqual({ finding: 'f1' });
  });

  test('V2: who saw a review before becoming a reviewer submits once and is frozen at once', () => {
    const room = open()
      .reveal('paul')
      .roles({ paul: ['reviewer'] });
    expect(reviewsSeen(room, 'paul')).toEqual([]);
    room.submit('paul');
    expect(room.refused((it) => it.submit('paul', { verdict: 'approve' })).code).toBe('frozen');
  });
});

describe('freezing', () => {
  const table: [string, (room: TestRoom) => TestRoom, string, boolean][] = [
    ['a reviewer that has not submitted is shown nothing', (room) => room, 'grok', false],
    ['a reviewer that has submitted is shown a first review', (room) => room.submit('grok'), 'grok', true],
    ['its own review alone reveals nothing', (room) => room, 'ana', false],
    ['whoever has no role is shown one', (room) => room, 'paul', true],
    ['who was shown one is recorded once', (room) => room.submit('grok').reveal('grok'), 'grok', false],
    ['a closed round freezes nobody', (room) => room.submit('grok').close('ana'), 'grok', false],
  ];
  test.each(table)('V3: %s', (_what, happens, reader, expected) => {
    expect(reveals(happens(open()), reader)).toBe(expected);
  });

  test('V3: being shown a review is recorded, once', () => {
    const room = open().submit('grok').reveal('grok');
    expect(room.state.round!.seen).toEqual(['ag_grok']);
    const { state } = room;
    expect(room.reveal('grok').state).toBe(state);
  });

  test('V3: whoever would be shown nothing is not frozen', () => {
    const room = open().reveal('ana');
    expect(room.state.round!.seen).toEqual([]);
    const gone = open().submit('grok').delete('ana').reveal('grok');
    expect(gone.submit('grok', { verdict: 'approve' }).result).toMatchObject({ replaced: true });
  });

  test('V3: who is frozen before any review of its own stays so through leaving and coming back', () => {
    const room = open().submit('grok').reveal('grok').leave('grok').join('grok');
    expect(room.refused((it) => it.submit('grok', { verdict: 'approve' })).code).toBe('frozen');
  });

  test('V8: a reviewer without a review is answered none, whenever the reading began', () => {
    const room = open();
    expect(room.refused((it) => it.reveal('grok')).code).toBe('conflict');
    room.reveal('paul').roles({ paul: ['reviewer'] });
    expect(room.refused((it) => it.reveal('paul')).code).toBe('conflict');
  });

  test('V8: a replace after the first sight is refused, one before it is not', () => {
    const room = open().submit('grok').submit('grok', { verdict: 'approve' }).reveal('grok');
    expect(room.refused((it) => it.submit('grok', { verdict: 'comment' })).code).toBe('frozen');
  });

  test('V8: a round that has closed meanwhile is read again', () => {
    const room = open();
    const reveal = { type: 'reveal', by: 'us_paul', round: 1 } as const;
    room.close('ana');
    expect(room.refused((it) => it.run(reveal)).code).toBe('conflict');
    expect(room.open('ana').refused((it) => it.run(reveal)).code).toBe('conflict');
  });

  test('V8: who has left is shown nothing', () => {
    expect(
      open()
        .leave('paul')
        .refused((it) => it.reveal('paul')).code,
    ).toBe('not_a_member');
  });
});

describe('answers in a panel', () => {
  const answersSeen = (room: TestRoom, name: string): string[] => findingOf(seen(room, name), 'f1')!.answers.map((answer) => answer.kind);

  test('A6: an answer to a finding of the open round shows to nobody but its giver, until the close', () => {
    const room = open().answer('pia', 'f1', 'reject', 'no');
    expect(['ana', 'paul', 'olga'].map((name) => answersSeen(room, name))).toEqual([[], [], []]);
    expect(answersSeen(room, 'pia')).toEqual(['reject']);
    room.close('ana');
    expect(['ana', 'grok', 'olga'].map((name) => answersSeen(room, name))).toEqual([['reject'], ['reject'], ['reject']]);
  });

  test('A6: answers to carried findings, and in build + duel, show at once', () => {
    expect(answersSeen(open('build_duel').answer('pia', 'f1', 'accept'), 'ana')).toEqual(['accept']);
    expect(answersSeen(open().close('ana').push('b2').open('ana').answer('pia', 'f1', 'accept'), 'grok')).toEqual(['accept']);
  });

  test('A6: a refusal tells no more of a hidden answer than that there is one', () => {
    const withdrawn = open().resolve('ana', 'f1', 'withdrawn');
    expect(withdrawn.refused((it) => it.answer('pia', 'f1', 'accept')).message).toBe('Finding f1 is resolved; it takes no more answers.');
    expect(withdrawn.refused((it) => it.resolve('ana', 'f1', 'fixed')).message).toBe('Finding f1 is withdrawn; it takes no more answers.');
    const accepted = open().answer('pia', 'f1', 'accept');
    expect(accepted.refused((it) => it.resolve('ana', 'f1', 'upheld')).message).not.toContain('accepted');
  });
});
