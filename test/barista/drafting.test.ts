import { describe, expect, test } from 'vitest';
import { LiveRoom } from '../../workflows/live-room.js';
import { restsOn } from '../../workflows/barista/step.js';
import { offersOf } from '../../workflows/barista/status.js';
import type { RoomState } from '../../workflows/room/state.js';
import type { ClockedRoom } from '../support/clocked-room.js';
import { MINUTE, OWNER } from '../support/room.js';
import { aClockedRoom } from '../support/clocked-room.js';
import { around, at, closed, notes, opened, stepAt } from './support.js';

/** Round 1 is closed since minute 2 with nothing to fix, and its leads are asked. */
function asked(prepare: (room: ClockedRoom) => ClockedRoom = (room) => room): ClockedRoom {
  return prepare(opened()).submit('ana').submit('bo').pass(0);
}
const drafting = (room: ClockedRoom): string[] => notes(room, /^barista: (?!round).*(draft|is lead|is reviewer)/);
const finalDraft = (room: ClockedRoom): ClockedRoom => room.run({ type: 'finalDraft', by: OWNER });
const leads = (room: ClockedRoom): string[] => room.state.participants.filter((one) => one.roles.includes('lead')).map((one) => one.name);

describe('B19: reminder and hand-off', () => {
  test('B19: a reminder at 10 minutes, a hand-off at 30', () => {
    const room = asked();
    expect(around(room, 12)).toEqual(['wait: draft_reminder 12, draft_handoff 32', 'remindLeads', 'remindLeads']);
    expect(around(room.pass(11), 32)).toEqual(['wait: draft_handoff 32', 'handOff', 'handOff']);
  });

  test('B27: a reminder overtaken by a hand-off due at the same time is not posted', () => {
    expect(at(asked(), 32)).toBe('handOff');
    const room = opened({ durations: { draftReminder: 30 * MINUTE } })
      .submit('ana')
      .submit('bo')
      .pass(40);
    expect(notes(room, /still to be written/)).toEqual([]);
  });

  test('B19, B20: each hand-off has its own ask and reminder; 30 minutes after the second it is assembled', () => {
    const room = asked((it) => it.join('cy', 'dee').decline('cy').submit('dee')).pass(200);
    expect(drafting(room)).toEqual([
      '2 @ana: draft the review of round 1 with draft_review',
      '12 @ana: the draft of round 1 is still to be written',
      '32 @ana is reviewer; @bo is lead + reviewer',
      '32 @bo: draft the review of round 1 with draft_review',
      '42 @bo: the draft of round 1 is still to be written',
      '62 @bo is reviewer; @dee is lead + reviewer',
      '62 @dee: draft the review of round 1 with draft_review',
      '72 @dee: the draft of round 1 is still to be written',
      '92 the draft of round 1 was assembled from the reviews, for no agent drafted it; @olga, check it before you post',
    ]);
    expect(room.state.draft).toMatchObject({ assembled: true, draftedBy: 'barista' });
    expect(room.draft('dee').state.draft).toMatchObject({ assembled: false, draftedBy: 'ag_dee' });
  });

  const next: [string, (room: ClockedRoom) => ClockedRoom, string | null][] = [
    ['one that submitted, earliest joined', (room) => room.join('cy').submit('cy'), 'bo'],
    [
      'one that submitted before one that did not',
      (room) =>
        room
          .roles({ bo: ['author'] })
          .join('cy', 'dee')
          .decline('cy')
          .submit('dee'),
      'dee',
    ],
    [
      'not the author, though it submitted',
      (room) =>
        room
          .join('cy')
          .submit('bo')
          .roles({ bo: ['author', 'reviewer'] })
          .decline('cy'),
      'cy',
    ],
    ['one that submitted and holds no role now', (room) => room.submit('bo').roles({ bo: [] }).join('cy').decline('cy'), 'bo'],
    ['not one without a role that did not submit', (room) => room.roles({ bo: [] }), null],
    [
      'not a person',
      (room) =>
        room
          .roles({ bo: [] })
          .join('pia')
          .roles({ pia: ['reviewer'] })
          .submit('pia'),
      null,
    ],
    ['not one that has left', (room) => room.submit('bo').leave('bo'), null],
    ['not one that was deleted', (room) => room.submit('bo').delete('bo'), null],
  ];
  test.each(next)('B19: it goes to %s', (_what, prepare, expected) => {
    const room = prepare(opened()).submit('ana');
    if (
      room.state.round!.reviews.every((review) => review.by !== 'ag_bo') &&
      room.state.participants.some((one) => one.id === 'ag_bo' && one.roles.includes('reviewer'))
    )
      room.submit('bo');
    const step = stepAt(room.pass(11), 32);
    expect(step).toMatchObject({ action: expected ? { do: 'handOff', to: `ag_${expected}` } : { do: 'assembleDraft' } });
  });

  test('B19: all agent leads lose the role; a person keeps theirs and the round', () => {
    const room = asked((it) =>
      it
        .join('cy')
        .submit('cy')
        .roles({ ana: ['lead', 'reviewer'], cy: ['lead', 'reviewer'] }),
    );
    expect(drafting(room)).toEqual(['2 @ana and @cy: draft the review of round 1 with draft_review']);
    expect(leads(room.pass(30))).toEqual(['bo']);
    expect(drafting(room).at(-2)).toBe('32 @ana is reviewer; @cy is reviewer; @bo is lead + reviewer');
  });

  test('B19: with several leads one draft is enough', () => {
    const room = asked((it) => it.roles({ bo: ['lead', 'reviewer'] }));
    expect(at(room.draft('bo'), 500)).toBe('wait');
  });

  test('B19: nobody is asked twice: a lead asked before is passed over', () => {
    const room = asked()
      .pass(30)
      .roles({ ana: ['lead'], bo: ['reviewer'] })
      .pass(0);
    expect(drafting(room).at(-1)).toBe('32 @ana: draft the review of round 1 with draft_review');
    expect(at(room.pass(11), 62)).toBe('assembleDraft');
  });

  test('B1: the note of a hand-off is Barista’s, the ask mentions whom it asks, and the roles are told to everybody', () => {
    const room = asked().pass(30);
    expect(room.said.slice(-2).map(({ mentions, event }) => [mentions, event])).toEqual([
      [[], 'roles_changed'],
      [['ag_bo'], 'draft_asked'],
    ]);
  });
});

describe('B21: a person who leads', () => {
  test('B21: is reminded once and never replaced, nor is the draft assembled', () => {
    const room = asked((it) => it.roles({ olga: ['lead'], ana: ['reviewer'] })).pass(5_000);
    expect(drafting(room)).toEqual([
      '2 @olga: draft the review of round 1 with draft_review',
      '12 @olga: the draft of round 1 is still to be written',
    ]);
    expect([leads(room), at(room, 10_000)]).toEqual([['olga'], 'wait']);
  });

  test('B21: also where an agent leads beside them; once the person is gone it goes on', () => {
    const room = asked((it) => it.roles({ olga: ['lead'] })).pass(100);
    expect(leads(room)).toEqual(['olga', 'ana']);
    expect(at(room.roles({ olga: [] }), 102)).toBe('handOff');
  });
});

describe('B25: nobody leads', () => {
  test('B25: the role goes to an agent when the draft is due, counting as one hand-off', () => {
    const room = asked((it) =>
      it
        .join('cy')
        .roles({ ana: ['reviewer'] })
        .submit('cy'),
    ).pass(0);
    expect(leads(room)).toEqual(['ana']);
    expect(room.state.round?.drafting.handOffs).toBe(1);
    expect([leads(room.pass(30)), leads(room.pass(30))]).toEqual([['bo'], ['bo']]);
    expect(room.state.draft).toMatchObject({ assembled: true });
  });

  test('B28: the lead removed, gone or deleted after the ask: at once', () => {
    const after: ((room: ClockedRoom) => ClockedRoom)[] = [
      (room) => room.roles({ ana: [] }),
      (room) => room.leave('ana'),
      (room) => room.delete('ana'),
    ];
    for (const happens of after) {
      const room = happens(asked().pass(5)).pass(0);
      expect([leads(room), room.state.round?.drafting.handOffs]).toEqual([['bo'], 1]);
    }
  });

  test('B20: with no agent at all it is assembled at once; a person who only reviews is not made to lead', () => {
    const room = aClockedRoom()
      .join('pia')
      .roles({ pia: ['reviewer'] })
      .pass(2)
      .submit('pia')
      .pass(0);
    expect(room.state.draft).toMatchObject({ assembled: true });
  });
});

describe('B28: an ask and its clocks end', () => {
  const ends: [string, (room: ClockedRoom) => ClockedRoom, string][] = [
    ['when a draft is saved', (room) => room.draft('ana'), 'wait'],
    ['when Barista is turned off', (room) => room.barista(false), 'wait'],
    ['when the head moves and a round will open', (room) => room.push('b2'), 'wait: head_quiet 4'],
    ['when a round opens', (room) => room.open('ana'), 'wait: remind_after 12, remind_after 12, idle_close 32, round_cap 92'],
  ];
  test.each(ends)('B28: %s', (_what, happens, expected) => {
    expect(at(happens(asked()), 3)).toBe(expected);
  });

  test('B28: when the pull request is closed; reopened, the lead is asked anew', () => {
    const room = asked().pullRequest('closed').pass(60);
    expect(drafting(room)).toHaveLength(1);
    expect(room.refused((it) => it.draft('ana')).code).toBe('too_soon');
    expect(drafting(room.pullRequest('open').pass(0)).at(-1)).toBe('62 @ana: draft the review of round 1 with draft_review');
    expect(at(room, 63)).toBe('wait: draft_reminder 72, draft_handoff 92');
  });

  test("B28: a head forced back to the round's commit: asked anew", () => {
    const room = asked().push('b2').pass(1).push('a1').pass(0);
    expect(drafting(room)).toHaveLength(2);
    expect(at(room, 4)).toBe('wait: draft_reminder 13, draft_handoff 33');
  });

  test('B28: another lead named by the owner is asked anew, not as a hand-off', () => {
    const room = asked()
      .pass(20)
      .roles({ bo: ['lead', 'reviewer'], ana: ['reviewer'] })
      .pass(0);
    expect(drafting(room).at(-1)).toBe('22 @bo: draft the review of round 1 with draft_review');
    expect([room.state.round?.drafting.handOffs, at(room, 23)]).toEqual([0, 'wait: draft_reminder 32, draft_handoff 52']);
  });

  test('B28: one of several leads may go without a word', () => {
    const room = asked((it) => it.roles({ bo: ['lead', 'reviewer'] }))
      .roles({ bo: ['reviewer'] })
      .pass(0);
    expect(drafting(room)).toHaveLength(1);
  });

  test('B18: answers after the ask do not take it back', () => {
    const room = opened({ author: true })
      .submit('ana', { findings: [{ severity: 'nit' }, {}] })
      .submit('bo')
      .pass(0);
    room.answer('cy', 'f2', 'reject', 'no').pass(30);
    expect(at(room.resolve('ana', 'f2', 'upheld'), 33)).toBe('wait: draft_reminder 42, draft_handoff 62');
    expect(offersOf(room.state)).toEqual([]);
  });
});

describe('B23, B28: the final draft', () => {
  test('B23: the owner has the lead draft the round as it is, and B19 and B20 run', () => {
    const room = finalDraft(closed()).pass(200);
    expect(drafting(room)).toEqual([
      '3 @ana: draft the review of round 1 with draft_review, as the round is',
      '13 @ana: the draft of round 1 is still to be written',
      '33 @ana is reviewer; @bo is lead + reviewer',
      '33 @bo: draft the review of round 1 with draft_review',
      '43 @bo: the draft of round 1 is still to be written',
      '63 the draft of round 1 was assembled from the reviews, for no agent drafted it; @olga, check it before you post',
    ]);
  });

  test('B28: it counts as the ask from the moment it is taken', () => {
    expect(finalDraft(closed()).draft('ana').state.draft).toMatchObject({ draftedBy: 'ag_ana' });
  });

  test('B28: refused unless it is offered, by anybody but the owner too; taken twice it is one', () => {
    const refused = (room: ClockedRoom): string => room.refused(finalDraft).code;
    expect(refused(opened())).toBe('conflict');
    expect(refused(closed({ author: true }))).toBe('conflict');
    expect(refused(closed().push('b2'))).toBe('conflict');
    expect(refused(closed().pullRequest('closed'))).toBe('conflict');
    expect(refused(closed().barista(false))).toBe('conflict');
    expect(closed().refused((it) => it.run({ type: 'finalDraft', by: 'ag_ana' })).code).toBe('role_required');
    const room = finalDraft(closed());
    expect(finalDraft(room).events.filter((event) => event.type === 'FinalDraftTaken')).toHaveLength(1);
  });

  test('B28: the head moves: the owner judged the old one, so it ends', () => {
    const room = finalDraft(closed()).pass(5).push('b2').pass(10);
    expect(drafting(room)).toHaveLength(1);
    expect(room.state.round).toMatchObject({ number: 2, drafting: { finalAt: null } });
    const back = finalDraft(closed()).push('b2').push('a1');
    expect([at(back, 4), offersOf(back.state)]).toEqual(['wait: fixes_not_pushed 1443', ['final_draft']]);
  });
});

describe('B24: stale drafts', () => {
  test('B24: a push after the draft opens the next round, with no note of its own', () => {
    const room = asked().draft('ana').pass(5).push('b2').pass(2);
    expect(room.state.round?.number).toBe(2);
    expect(notes(room, /may be posted as it is/)).toEqual([]);
    expect(room.post().state.draft).toMatchObject({ round: 1, posting: { status: 'posted' } });
  });
});

describe('B27: a clock that follows a note', () => {
  test('B27: the reminder and the hand-off count from when the ask was really posted', () => {
    const room = asked().after(20).emit({ type: 'AskPostedLate' });
    expect(around(room, 32)).toEqual(['wait: draft_reminder 32, draft_handoff 52', 'remindLeads', 'remindLeads']);
  });

  test('B27: what follows the ask rests on its having been posted', () => {
    const following = [{ do: 'remindLeads', leads: [] }, { do: 'handOff', to: 'ag_bo' }, { do: 'assembleDraft' }] as const;
    expect(following.map((action) => restsOn(action).ask)).toEqual([true, true, true]);
    expect(restsOn({ do: 'askDraft', leads: [] }).ask).toBeUndefined();
  });

  test('B27: a room owes a note until its event is known to be in the database', () => {
    const state: RoomState = closed().state;
    const room = LiveRoom.from({ kind: 'resume', state, outbox: { from: state.seq, events: [] } }, 0);
    room.commitOwn([{ type: 'DraftAsked', leads: ['ag_ana'], why: 'ready' }], 1);
    room.acknowledge(state.seq);
    expect([room.owes('DraftAsked'), room.owes('RoundClosed')]).toEqual([true, false]);
    room.acknowledge(state.seq + 1);
    expect(room.owes('DraftAsked')).toBe(false);
  });
});
