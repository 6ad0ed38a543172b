import { describe, expect, test } from 'vitest';
import { findingOf, stateOf } from '../../workflows/room/findings.js';
import type { Finding } from '../../workflows/room/state.js';
import type { FindingState, Resolution } from '../../workflows/room/words.js';
import { HEAD, OWNER, type TestRoom, aRoom, sha } from '../support/room.js';

/** ana leads and reviews, grok and kim review, pia answers as the author. ana's f1 and f2 stand in round 1, which is open. */
const open = (): TestRoom =>
  aRoom()
    .join('ana', 'grok', 'kim', 'pia')
    .roles({ pia: ['author'] })
    .open('ana')
    .submit('ana', { findings: [{}, {}] });
const closed = (): TestRoom => open().submit('grok').close('ana');
/** Round 2 at another commit, with f1 accepted and f2 unanswered. */
const carried = (): TestRoom => closed().answer('pia', 'f1', 'accept').push('b2').open('ana');
const f1 = (room: TestRoom): Finding => findingOf(room.state, 'f1')!;
const state = (room: TestRoom): FindingState => stateOf(room.state, f1(room));

describe("the author's answer", () => {
  test('A1: it is recorded with who, as what, on which round and commit', () => {
    const room = closed().after(3).answer('pia', 'f1', 'reject', 'not so');
    expect(f1(room).answers).toEqual([
      { kind: 'reject', by: 'us_pia', as: 'author', reason: room.stage('us_pia', 'not so'), round: 1, commit: HEAD, at: room.now },
    ]);
  });

  test('A1: a rejection without a reason is refused, an accept needs none', () => {
    expect(open().refused((it) => it.answer('pia', 'f1', 'reject'))).toMatchObject({ code: 'invalid', field: 'reason' });
    expect(state(open().answer('pia', 'f1', 'accept'))).toBe('accepted');
  });

  test('A1: a new answer is added, is the one that counts, and clears an upheld', () => {
    const room = closed().answer('pia', 'f1', 'reject', 'no').resolve('ana', 'f1', 'upheld');
    expect(state(room)).toBe('upheld');
    expect(state(room.answer('pia', 'f1', 'accept'))).toBe('accepted');
    expect(f1(room).answers.map((answer) => answer.kind)).toEqual(['reject', 'upheld', 'accept']);
  });
});

describe("the raiser's resolution", () => {
  const from: [string, (room: TestRoom) => TestRoom, FindingState][] = [
    ['an unanswered', (room) => room, 'open'],
    ['an accepted', (room) => room.answer('pia', 'f1', 'accept'), 'accepted'],
    ['an upheld', (room) => room.answer('pia', 'f1', 'reject', 'no').resolve('ana', 'f1', 'upheld', 'yes'), 'upheld'],
  ];
  test.each(from)('A2: %s finding can be marked fixed or withdrawn, not upheld', (_what, before, was) => {
    const room = before(closed());
    expect(room.refused((it) => it.resolve('ana', 'f1', 'upheld', 'again'))).toMatchObject({
      code: 'invalid',
      field: 'resolution',
      message: expect.stringContaining(was),
    });
    expect(state(before(closed()).resolve('ana', 'f1', 'fixed'))).toBe('fixed');
    expect(state(before(closed()).resolve('ana', 'f1', 'withdrawn'))).toBe('withdrawn');
  });

  test.each(['fixed', 'withdrawn', 'upheld'] as const)('A2: a rejected finding can be %s', (resolution) => {
    expect(state(closed().answer('pia', 'f1', 'reject', 'no').resolve('ana', 'f1', resolution))).toBe(resolution);
  });
});

describe('settled findings', () => {
  test.each(['fixed', 'withdrawn'] as const)('A3: a %s finding is refused by both tools', (resolution) => {
    const room = closed().resolve('ana', 'f1', resolution);
    const refusal = { code: 'settled', field: 'finding_id', message: expect.stringContaining(resolution) };
    expect(room.refused((it) => it.answer('pia', 'f1', 'accept'))).toMatchObject(refusal);
    for (const again of ['fixed', 'withdrawn', 'upheld'] as const) {
      expect(room.refused((it) => it.resolve('ana', 'f1', again))).toMatchObject(refusal);
    }
  });

  test('A3: one that left with an earlier round is refused as settled too', () => {
    const room = closed().resolve('ana', 'f1', 'fixed').open('ana');
    expect(room.refused((it) => it.answer('pia', 'f1', 'accept')).code).toBe('settled');
    expect(room.refused((it) => it.resolve('ana', 'f1', 'fixed')).code).toBe('settled');
  });

  test('A3: also when that was several rounds ago', () => {
    const room = closed()
      .resolve('ana', 'f1', 'fixed')
      .open('ana')
      .submit('ana')
      .resolve('ana', 'f2', 'withdrawn')
      .close('ana')
      .open('ana');
    for (const id of ['f1', 'f2']) expect(room.refused((it) => it.answer('pia', id, 'accept')).code).toBe('settled');
  });

  test('A3: a finding that never was is not found', () => {
    expect(closed().refused((it) => it.answer('pia', 'f9', 'accept')).code).toBe('not_found');
    expect(
      aRoom()
        .join('ana')
        .refused((it) => it.resolve('ana', 'f1', 'fixed')).code,
    ).toBe('not_found');
  });
});

describe('when answers are taken', () => {
  const whens: [string, () => TestRoom, number, string][] = [
    ['while its round is open', open, 1, HEAD],
    ['once it is closed and the latest', closed, 1, HEAD],
    ['after a push that opened no round', () => closed().push('b2'), 1, HEAD],
    ['once the review is posted', () => closed().draft('ana').post(), 1, HEAD],
    ['carried, in the new round', () => closed().push('b2').open('ana'), 2, sha('b2')],
    ['carried, once the new round is closed', () => closed().push('b2').open('ana').submit('ana').close('ana'), 2, sha('b2')],
  ];
  test.each(whens)('A4, D8: %s, on the commit of the round that is then the latest', (_when, room, round, commit) => {
    expect(f1(room().answer('pia', 'f1', 'accept')).answers.at(-1)).toMatchObject({ round, commit });
    expect(f1(room().resolve('ana', 'f1', 'fixed')).answers.at(-1)).toMatchObject({ round, commit, as: 'raiser' });
  });
});

describe('a lost raiser', () => {
  const lost: [string, (room: TestRoom) => TestRoom][] = [
    ['its raiser has lost the reviewer role', (room) => room.submit('grok').roles({ ana: ['lead'] })],
    ['its raiser has left', (room) => room.submit('grok').leave('ana')],
    ['its raiser did not review the closed round', (room) => room.submit('grok').decline('ana').close('ana')],
  ];
  test.each(lost)('A9: any reviewer that submitted may settle an accepted finding once %s', (_why, happens) => {
    for (const resolution of ['fixed', 'withdrawn'] as const) {
      const room = happens(carried()).resolve('grok', 'f1', resolution);
      expect(f1(room).answers.at(-1)).toMatchObject({ kind: resolution, by: 'ag_grok', as: 'reviewer', round: 2 });
    }
  });

  const refused: [string, () => TestRoom, Resolution, string?][] = [
    ['while the round is open and its raiser may still submit', () => carried().submit('grok'), 'fixed'],
    ['where its raiser reviewed the round', () => carried().submit('ana').submit('grok').close('ana'), 'fixed'],
    ['by a reviewer that did not submit in that round', () => carried().leave('ana'), 'fixed'],
    [
      'by one that submitted and lost the role',
      () =>
        carried()
          .submit('grok')
          .leave('ana')
          .roles({ grok: ['author'] }),
      'fixed',
    ],
    ['to uphold it', () => carried().submit('grok').leave('ana'), 'upheld'],
    ['a rejected finding', () => carried().answer('pia', 'f1', 'reject', 'no').submit('grok').leave('ana'), 'fixed'],
    [
      'an upheld finding',
      () => carried().answer('pia', 'f1', 'reject', 'no').resolve('ana', 'f1', 'upheld').submit('grok').leave('ana'),
      'withdrawn',
    ],
    ['an unanswered finding, while somebody is the author', () => carried().submit('grok').leave('ana'), 'fixed', 'f2'],
    [
      'once the next round is open, until submitting in it',
      () =>
        carried()
          .submit('grok')
          .leave('ana')
          .roles({ kim: ['lead'] })
          .close('kim')
          .open('kim'),
      'fixed',
    ],
  ];
  test.each(refused)('A9: not %s', (_when, room, resolution, id = 'f1') => {
    expect(room().refused((it) => it.resolve('grok', id, resolution)).code).toBe('role_required');
  });

  test('A9: never for a finding a person raised', () => {
    const room = aRoom()
      .join('ana', 'grok', 'pia', 'paul')
      .roles({ pia: ['author'], paul: ['reviewer'] })
      .open('ana');
    room
      .submit('paul', { findings: [{}] })
      .submit('ana')
      .close('ana')
      .answer('pia', 'f1', 'accept')
      .push('b2')
      .open('ana');
    room.submit('grok').submit('ana').roles({ paul: [] }).close('ana');
    expect(room.refused((it) => it.resolve('grok', 'f1', 'fixed')).code).toBe('role_required');
  });

  test('A9, B10: where nobody holds the author role, a finding from an earlier commit counts as accepted', () => {
    const room = carried()
      .roles({ pia: [] })
      .submit('grok', { findings: [{}] })
      .leave('ana');
    expect(room.resolve('grok', 'f2', 'fixed').result).toEqual({ finding: 'f2' });
    const sameCommit = closed().roles({ pia: [] }).open('ana').submit('grok').leave('ana');
    expect(sameCommit.refused((it) => it.resolve('grok', 'f2', 'fixed')).code).toBe('role_required');
  });

  test('A9: a raiser that is lost because it did not review, but still reviews, may resolve as the raiser', () => {
    const room = carried().submit('grok').decline('ana').close('ana').resolve('ana', 'f1', 'fixed');
    expect(f1(room).answers.at(-1)).toMatchObject({ as: 'raiser' });
  });
});

describe('S9: an answer that is repeated', () => {
  const repeats: [string, (room: TestRoom) => TestRoom][] = [
    ['accept', (room) => room.answer('pia', 'f1', 'accept')],
    ['reject', (room) => room.answer('pia', 'f1', 'reject', 'no')],
    ['upheld', (room) => room.resolve('ana', 'f1', 'upheld', 'yes')],
  ];
  test.each(repeats)('S9: %s, equal to the latest one, changes nothing', (way, call) => {
    const room = call(way === 'upheld' ? closed().answer('pia', 'f1', 'reject', 'no') : closed());
    const { state: before, result } = room;
    expect(call(room.after(1)).state).toBe(before);
    expect(room.result).toEqual(result);
  });

  test('S9: it is judged before the role, and by what stands now', () => {
    const room = closed().answer('pia', 'f1', 'accept').roles({ pia: [] });
    const { state: before } = room;
    expect(room.answer('pia', 'f1', 'accept').state).toBe(before);
    expect(room.refused((it) => it.answer('pia', 'f1', 'reject', 'no')).code).toBe('role_required');
  });

  test('S9: with something after it, or another reason, or by another author, it is new', () => {
    const count = (room: TestRoom): number => f1(room).answers.length;
    const rejected = (): TestRoom => closed().answer('pia', 'f1', 'reject', 'no');
    expect(count(rejected().resolve('ana', 'f1', 'upheld').answer('pia', 'f1', 'reject', 'no'))).toBe(3);
    expect(count(rejected().answer('pia', 'f1', 'reject', 'because'))).toBe(2);
    expect(
      count(
        rejected()
          .roles({ kim: ['author'] })
          .answer('kim', 'f1', 'reject', 'no'),
      ),
    ).toBe(2);
  });

  test('S9: one that settled the finding is refused as settled', () => {
    const room = closed().resolve('ana', 'f1', 'fixed');
    expect(room.refused((it) => it.resolve('ana', 'f1', 'fixed')).code).toBe('settled');
  });

  test('S9: with a request id the same call is a repeat also when it settled, another id makes it new', () => {
    const room = closed();
    const fixed = { type: 'resolveFinding', by: 'ag_ana', finding: 'f1', resolution: 'fixed', note: null } as const;
    room.run({ ...fixed, requestId: 'r1' });
    const { state: before } = room;
    expect(room.run({ ...fixed, requestId: 'r1' }).state).toBe(before);
    expect(room.refused((it) => it.run({ ...fixed, requestId: 'r2' })).code).toBe('settled');
    const accept = { type: 'answerFinding', by: 'us_pia', finding: 'f2', answer: 'accept', reason: null } as const;
    room.run({ ...accept, requestId: 'r3' }).run({ ...accept, requestId: 'r4' });
    expect(findingOf(room.state, 'f2')!.answers).toHaveLength(2);
  });

  test('R5: the owner answers nothing without a role', () => {
    expect(closed().refused((it) => it.run({ type: 'answerFinding', by: OWNER, finding: 'f1', answer: 'accept', reason: null })).code).toBe(
      'role_required',
    );
  });
});
