import { describe, expect, test } from 'vitest';
import { BASE, HEAD, MINUTE, type TestRoom, aRoom, idOf, sha } from '../support/room.js';

const crew = (): TestRoom => aRoom().join('ana', 'grok', 'kim');
const opened = (): TestRoom => crew().open('ana');
/** A lead that does not review, so that nothing but the rule at hand refuses it. */
const ledByPerson = (): TestRoom =>
  aRoom()
    .join('pia')
    .roles({ pia: ['lead'] })
    .join('grok', 'kim')
    .open('pia');

describe('opening', () => {
  test('O1: it pins the head and the base that were read, and numbers the rounds from 1', () => {
    const room = opened();
    expect(room.result).toEqual({ round: 1 });
    expect(room.state.round).toMatchObject({
      number: 1,
      headSha: HEAD,
      baseSha: BASE,
      openedAt: room.now,
      openedBy: 'ag_ana',
      closed: null,
    });
    room.submit('ana').close('ana').pushUnheard('b2').open('ana');
    expect(room.state.round).toMatchObject({ number: 2, headSha: sha('b2') });
    expect(room.state.head.sha).toBe(sha('b2'));
    expect(room.state.earlier).toEqual([{ number: 1, headSha: HEAD, baseSha: BASE }]);
  });

  test('O1: a push does not move the pinned commit', () => {
    expect(opened().push('b2').state.round!.headSha).toBe(HEAD);
  });

  test('O1: a second open is refused and names the open round', () => {
    const room = opened().submit('grok');
    expect(room.refused((it) => it.open('ana'))).toMatchObject({ code: 'round_open', message: 'Round 1 is open.' });
  });

  test('V6: the refusal sends a lead to close a round only where Barista does not', () => {
    const hintOf = (enabled: boolean) => {
      const room = opened();
      room.run({ type: 'setBarista', by: room.state.owner, enabled }).submit('grok');
      return room.refused((it) => it.open('ana')).hint;
    };
    expect(hintOf(false)).toContain('close_review_round');
    expect(hintOf(true)).toBe('Barista closes it and opens the next by itself; get_review_round says what it waits for.');
  });

  test('O1: the next round may be opened by hand on the same commit', () => {
    expect(opened().submit('ana').close('ana').open('ana').state.round).toMatchObject({ number: 2, headSha: HEAD });
  });

  test('O1: a head read before the room learnt of another one is read again', () => {
    const room = crew();
    const read = room.read();
    room.push('b2');
    const open = { type: 'openRound', by: 'ag_ana', head: read } as const;
    expect(room.refused((it) => it.run(open)).code).toBe('conflict');
    expect(room.run({ ...open, head: { ...read, sha: sha('b2') } }).state.round!.headSha).toBe(sha('b2'));
  });

  test('O1, S9: with an unreadable head nothing is opened, and a repeat needs none', () => {
    const open = { type: 'openRound', by: 'ag_ana', head: null } as const;
    const room = crew();
    expect(room.refused((it) => it.run(open)).code).toBe('forge_unavailable');
    expect(room.open('ana').run(open).result).toEqual({ round: 1 });
    expect(room.submit('grok').refused((it) => it.run(open)).code).toBe('round_open');
    expect(room.refused((it) => it.run({ ...open, by: 'ag_grok' })).code).toBe('role_required');
  });

  test('O3: after the review is posted the next review needs a new round', () => {
    const room = opened().submit('ana').close('ana').draft('ana').post();
    expect(room.refused((it) => it.submit('grok')).code).toBe('round_closed');
    expect(room.open('ana').submit('grok').state.round!.reviews).toHaveLength(1);
  });

  test('K1: what is not settled is carried, with its id; what is settled leaves', () => {
    const room = aRoom()
      .join('ana', 'grok', 'pia')
      .roles({ pia: ['author'] })
      .open('ana');
    room.submit('ana', { findings: [{}, {}, {}, {}, {}, {}] }).close('ana');
    room
      .answer('pia', 'f2', 'accept')
      .answer('pia', 'f3', 'reject', 'no')
      .answer('pia', 'f4', 'reject', 'no')
      .resolve('ana', 'f4', 'upheld');
    room.resolve('ana', 'f5', 'fixed').resolve('ana', 'f6', 'withdrawn').open('ana');
    expect(room.state.round!.carried).toEqual(['f1', 'f2', 'f3', 'f4']);
    expect(room.state.findings.map((finding) => finding.id)).toEqual(['f1', 'f2', 'f3', 'f4']);
    expect(room.state.settled).toEqual(['f5', 'f6']);
    expect(room.state.findings[2]!.answers).toMatchObject([{ kind: 'reject', by: 'us_pia', as: 'author', round: 1, commit: HEAD }]);
  });

  test('K1: a carried finding that nobody settles is carried again, and ids go on', () => {
    const room = opened()
      .submit('ana', { findings: [{}] })
      .close('ana')
      .open('ana')
      .submit('ana', { findings: [{}] })
      .close('ana')
      .open('ana');
    expect(room.state.round!.carried).toEqual(['f1', 'f2']);
    expect(room.state.findings.map(({ id, raisedIn }) => [id, raisedIn])).toEqual([
      ['f1', 1],
      ['f2', 2],
    ]);
  });

  test('V3: who was frozen in a round is not in the next', () => {
    const room = opened().submit('ana').submit('grok').reveal('grok').close('ana').open('ana');
    expect(room.state.round!.seen).toEqual([]);
  });
});

describe('closing', () => {
  test('N2: it may come before every reviewer has submitted, and answers who is missing', () => {
    const room = opened().submit('ana').decline('kim').close('ana');
    expect(room.result).toEqual({ round: 1, missing: ['ag_grok', 'ag_kim'] });
    expect(room.state.round!.closed).toMatchObject({ at: room.now, by: 'ag_ana', why: 'lead' });
  });

  test('N2: a reviewer that lost the role or left is not missing', () => {
    expect(
      opened()
        .submit('ana')
        .leave('grok')
        .roles({ kim: ['author'] })
        .close('ana').result,
    ).toEqual({ round: 1, missing: [] });
  });

  test('N2: a head that cannot be read does not keep the round open', () => {
    const room = opened().submit('ana').run({ type: 'closeRound', by: 'ag_ana', head: null });
    expect(room.events.at(-1)).toMatchObject({ type: 'RoundClosed', head: null });
  });

  test('N2: a head that moved is learnt with the close', () => {
    const room = opened().submit('ana').pushUnheard('b2').close('ana');
    expect(room.events.at(-1)).toMatchObject({ type: 'RoundClosed', head: { sha: sha('b2') } });
    expect(room.state.head.sha).toBe(sha('b2'));
  });

  test('N3: a lead who reviews submits first, or declines; also with force', () => {
    const room = opened();
    expect(room.refused((it) => it.close('ana')).code).toBe('reviews_missing');
    room.pushUnheard('b2');
    expect(room.refused((it) => it.next('ana', true)).code).toBe('reviews_missing');
    expect(opened().decline('ana').close('ana').state.round!.closed).not.toBeNull();
    expect(opened().submit('ana').close('ana').state.round!.closed).not.toBeNull();
  });

  test('N3: a lead who does not review owes none', () => {
    expect(ledByPerson().close('pia').result).toEqual({ round: 1, missing: ['ag_grok', 'ag_kim'] });
  });

  test('N2: with no round open there is nothing to close', () => {
    expect(crew().refused((it) => it.close('ana')).code).toBe('no_open_round');
    expect(
      ledByPerson()
        .close('pia')
        .after(1)
        .push('b2')
        .refused((it) => it.close('pia')).code,
    ).toBe('no_open_round');
  });
});

describe('next_round', () => {
  test('N1: it closes the open round and opens the next at the new head in one step', () => {
    const room = opened()
      .submit('ana', { findings: [{}] })
      .submit('grok')
      .submit('kim')
      .pushUnheard('b2')
      .next('ana');
    expect(room.result).toEqual({ closed: 1, round: 2 });
    expect(room.events.slice(-3).map((event) => event.type)).toEqual(['HeadLearnt', 'RoundClosed', 'RoundOpened']);
    expect(room.state.round).toMatchObject({ number: 2, headSha: sha('b2'), carried: ['f1'], openedVia: 'next' });
    expect(room.notes.slice(-2).map((note) => note.event)).toEqual(['round_closed', 'round_opened']);
  });

  test.each([false, true])('N1: refused when the head has not moved, with force: %s', (force) => {
    const room = opened().submit('ana').submit('grok').submit('kim');
    expect(room.refused((it) => it.next('ana', force)).code).toBe('head_not_moved');
  });

  test('N1: refused when a reviewer has not submitted, naming who, unless forced', () => {
    const room = opened().submit('ana').push('b2');
    expect(room.refused((it) => it.next('ana'))).toMatchObject({
      code: 'reviews_missing',
      message: '@grok and @kim have not submitted a review.',
    });
    room.next('ana', true);
    expect(room.events.at(-2)).toMatchObject({ type: 'RoundClosed', why: 'next_round', missing: ['ag_grok', 'ag_kim'] });
  });

  test('N1: with no round open it hints at open_review_round', () => {
    const room = crew();
    expect(room.refused((it) => it.next('ana'))).toMatchObject({
      code: 'no_open_round',
      hint: expect.stringContaining('open_review_round'),
    });
    room.open('ana').submit('ana').close('ana').push('b2');
    expect(room.refused((it) => it.next('ana')).code).toBe('no_open_round');
  });

  test('N1: with an unreadable head nothing is closed', () => {
    const room = opened().submit('ana').submit('grok').submit('kim');
    expect(room.refused((it) => it.run({ type: 'nextRound', by: 'ag_ana', head: null, force: true })).code).toBe('forge_unavailable');
    expect(room.state.round!.closed).toBeNull();
  });

  test('S7: a decline satisfies N1 and N3 without force', () => {
    const room = opened().decline('ana').submit('grok').decline('kim').push('b2').next('ana');
    expect(room.state.round!.number).toBe(2);
  });

  test('N1: the closed round gets no draft', () => {
    const room = opened().submit('ana').submit('grok').submit('kim').push('b2').next('ana');
    expect(room.refused((it) => it.draft('ana')).code).toBe('round_open');
  });
});

describe('S9: asking again after a lost answer', () => {
  const ways: [string, () => TestRoom, (room: TestRoom) => TestRoom][] = [
    ['open', crew, (room) => room.open('ana')],
    ['close', () => opened().submit('ana'), (room) => room.close('ana')],
    ['next', () => opened().submit('ana').pushUnheard('b2'), (room) => room.next('ana', true)],
  ];

  test.each(ways)('S9: %s by the same caller when nothing changed gets the first result', (_way, before, call) => {
    const room = call(before());
    const { result, state } = room;
    expect(call(room.after(60)).state).toBe(state);
    expect(room.result).toEqual(result);
  });

  test.each(ways)('S9: %s is judged anew once something changed', (_way, before, call) => {
    const room = call(before()).join('lee');
    expect(room.refused(call).code).toMatch(/round_open|no_open_round|head_not_moved|reviews_missing/);
  });

  test.each(ways)('S9: %s by another lead is no repeat', (way, before, call) => {
    const room = call(before().roles({ grok: ['lead'] }));
    const byGrok = {
      open: (it: TestRoom) => it.open('grok'),
      close: (it: TestRoom) => it.close('grok'),
      next: (it: TestRoom) => it.next('grok'),
    };
    expect(room.refused(byGrok[way as keyof typeof byGrok]).code).toMatch(/round_open|no_open_round|head_not_moved/);
  });

  test('S9: closing after next_round is no repeat of it', () => {
    const room = ledByPerson().pushUnheard('b2').next('pia', true).close('pia');
    expect(room.result).toMatchObject({ round: 2 });
  });

  test('S9: a request id alone decides: the same one gets the first result whatever happened since', () => {
    const room = crew().open('ana', 'r1').submit('ana').close('ana').push('b2');
    const { state } = room;
    expect(room.open('ana', 'r1').state).toBe(state);
    expect(room.result).toEqual({ round: 1 });
    expect(room.open('ana', 'r2').result).toEqual({ round: 2 });
    expect(room.open('ana').result).toEqual({ round: 2 });
  });

  test("S9: another caller's request id, and a new one, are judged anew", () => {
    const room = crew()
      .roles({ grok: ['lead'] })
      .open('ana', 'r1');
    expect(room.refused((it) => it.open('grok', 'r1')).code).toBe('round_open');
    expect(room.refused((it) => it.open('ana', 'r2')).code).toBe('round_open');
  });

  test('S9: a refused call is not remembered: its request id may be used again', () => {
    const room = opened();
    const close = { type: 'closeRound', by: idOf('ana'), head: room.read(), requestId: 'r1' } as const;
    expect(room.refused((it) => it.run(close)).code).toBe('reviews_missing');
    expect(room.submit('ana').run(close).state.round!.closed!.at).toBe(room.now);
  });

  test('S9: the newest 200 request ids are remembered', () => {
    const room = crew().open('ana', 'first');
    for (let n = 0; n < 200; n++)
      room.run({ type: 'join', by: 'ag_grok', participant: { id: 'ag_grok', name: 'grok', kind: 'agent' }, requestId: `r${n}` });
    expect(room.state.requests).toHaveLength(200);
    expect(room.refused((it) => it.after(MINUTE).open('ana', 'first')).code).toBe('round_open');
  });
});
