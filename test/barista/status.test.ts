import { describe, expect, test } from 'vitest';
import { chipsOf, offersOf, phaseOf, waitingOn } from '../../workflows/barista/status.js';
import { nameOf } from '../../workflows/room/members.js';
import { nextSteps, nothingForYou } from '../../workflows/room/turn.js';
import type { ClockedRoom } from '../support/clocked-room.js';
import { aClockedRoom } from '../support/clocked-room.js';
import { OWNER, idOf } from '../support/room.js';
import { DAY, closed, nextCommit, opened } from './support.js';

type Seen = [phase: string, waitingOn: string, chips: string, offers: string];
function seen(room: ClockedRoom): Seen {
  const { state, now } = room;
  const names = waitingOn(state, now).map((id) => nameOf(state, id));
  return [phaseOf(state, now), names.join(' '), chipsOf(state, room.calls, now).join(', '), offersOf(state).join(', ')];
}

const accept = (room: ClockedRoom): ClockedRoom => room.answer('cy', 'f1', 'accept');
const reject = (room: ClockedRoom): ClockedRoom => room.answer('cy', 'f1', 'reject', `no, at ${room.age}`);
const dispute = (room: ClockedRoom): ClockedRoom => reject(reject(room).resolve('ana', 'f1', 'upheld'));
const round2 = (left: (room: ClockedRoom) => ClockedRoom): ClockedRoom => nextCommit(left(closed({ author: true })));
/** Round 5 is closed, and f1 still needs a fix. */
const round5 = (): ClockedRoom => {
  const room = closed({ author: true });
  for (let number = 2; number <= 5; number += 1)
    nextCommit(room)
      .submit('ana', { summary: `${number}` })
      .submit('bo', { summary: `${number}` })
      .pass(0);
  return room;
};
const drafted = (): ClockedRoom => opened({ author: true }).submit('ana').submit('bo').pass(0).draft('ana');

describe('the phase of a room, whose turn it is, its chips and its offers', () => {
  const table: [string, () => ClockedRoom, Seen][] = [
    ['before anybody joins', () => aClockedRoom(), ['waiting_for_crew', '', '', '']],
    ['without Barista, before round 1', () => aClockedRoom({ barista: false }).join('ana'), ['waiting_for_crew', '@ana', '', '']],
    ['a round open', () => opened().submit('ana'), ['reviewing', '@bo', '', '']],
    ['all declined', () => opened().decline('ana').decline('bo').pass(0), ['reviewing', '@olga', 'no review', '']],
    ['past the cap without a review', () => opened().pass(200), ['reviewing', '@ana @bo', 'no review', '']],
    ['without Barista, all submitted', () => opened().barista(false).submit('ana').submit('bo'), ['reviewing', '@ana', '', '']],
    ['closed, something to fix', () => closed({ author: true }), ['waiting_for_push', '@cy', '', '']],
    ['closed, something to fix, no author', () => closed(), ['waiting_for_push', '', '', 'final_draft']],
    ['closed, a dispute', () => dispute(closed({ author: true })), ['waiting_for_push', '@olga', 'dispute', 'final_draft']],
    [
      'closed, a dispute and something to fix',
      () => dispute(closed({ author: true, findings: 2 })),
      ['waiting_for_push', '@cy @olga', 'dispute', 'final_draft'],
    ],
    [
      'fixes not pushed for a day',
      () => closed({ author: true }).pass(DAY),
      ['waiting_for_push', '@cy', 'fixes not pushed', 'final_draft'],
    ],
    ['B13: something to fix after round 5, for a push opens no other', round5, ['waiting_for_push', '@olga', '', 'final_draft']],
    ['the next round is coming', () => closed({ author: true }).push('b2'), ['waiting_for_push', '', '', '']],
    ['a rejected finding', () => reject(closed({ author: true })), ['waiting_for_answers', '@ana', '', '']],
    [
      'a rejected finding whose raiser can no longer uphold it',
      () => reject(closed({ author: true })).roles({ ana: ['lead'] }),
      ['waiting_for_answers', '', '', ''],
    ],
    ['an accepted one to verify', () => round2(accept).submit('ana').submit('bo').pass(0), ['waiting_for_answers', '@ana', '', '']],
    ['an accepted one of a lost raiser', () => round2(accept).decline('ana').submit('bo').pass(0), ['waiting_for_answers', '@bo', '', '']],
    ['asked to draft', () => opened().submit('ana').submit('bo').pass(0), ['drafting', '@ana', '', '']],
    ['the final draft taken', () => closed().run({ type: 'finalDraft', by: OWNER }), ['drafting', '@ana', '', '']],
    ['without Barista, closed', () => closed().barista(false), ['drafting', '@ana', '', '']],
    ['drafted', drafted, ['drafted', '@olga', '', '']],
    ['drafted, and the head moved', () => drafted().push('b2'), ['drafted', '@olga', 'draft stale', '']],
    ['drafted without Barista, and the head moved', () => drafted().barista(false).push('b2'), ['drafted', '@olga', 'draft stale', '']],
    ['the draft of the round before, unposted', () => nextCommit(drafted()), ['reviewing', '@ana @bo', 'draft stale', '']],
    ['posted', () => drafted().post(), ['posted', '', '', '']],
    ['posted, and the head moved', () => drafted().post().push('b2'), ['posted', '', '', '']],
    [
      'posting failed',
      () => drafted().startPosting().emit({ type: 'PostingFailed', reason: 'no' }),
      ['drafted', '@olga', 'posting failed', ''],
    ],
    ['merged', () => closed().pullRequest('merged'), ['stopped', '', 'merged', '']],
    ['closed by its author in mid-round', () => opened().pullRequest('closed').pass(200), ['stopped', '', 'closed', '']],
    ['archived', () => opened().run({ type: 'archive', by: OWNER }).pass(200), ['stopped', '', '', '']],
  ];
  test.each(table)('B22, B24, B29: %s', (_what, room, expected) => {
    expect(seen(room())).toEqual(expected);
  });
});

describe('V6: next_steps in a Barista room', () => {
  const all: [string, () => ClockedRoom][] = [
    ['before round 1', () => aClockedRoom().join('ana')],
    ['open', () => opened({ author: true })],
    ['open, submitted', () => opened({ author: true }).submit('ana').submit('bo')],
    ['open, all declined', () => opened().decline('ana').decline('bo').pass(0)],
    ['to fix', () => closed({ author: true })],
    ['next coming', () => closed({ author: true }).push('b2')],
    ['rejected', () => reject(closed({ author: true }))],
    ['dispute', () => dispute(closed({ author: true }))],
    ['verify', () => round2(accept).submit('ana').submit('bo').pass(0)],
    ['lost raiser', () => round2(accept).decline('ana').submit('bo').pass(0)],
    ['asked', () => opened().submit('ana').submit('bo').pass(0)],
    ['final draft', () => closed().run({ type: 'finalDraft', by: OWNER })],
    ['drafted', drafted],
    ['posted', () => drafted().post()],
    ['merged', () => closed().pullRequest('merged')],
    ['archived', () => opened().run({ type: 'archive', by: OWNER })],
  ];

  test.each(all)('V6: %s: one or two sentences to everybody, and nobody is told to open, advance or close a round', (_what, make) => {
    const room = make();
    for (const { id } of room.state.participants) {
      const said = nextSteps(room.state, id, room.now);
      expect(said).not.toMatch(/open_review_round|next_round|close_review_round/);
      expect(said.split(/(?<=[.!?]) /).length, said).toBeLessThanOrEqual(2);
    }
  });

  const table: [string, () => ClockedRoom, string, string][] = [
    [
      'B2: anybody before there is a reviewer',
      () => aClockedRoom(),
      'olga',
      'Barista opens round 1 once somebody holds the reviewer role and the head is quiet.',
    ],
    ['B2: anybody once there is one', () => aClockedRoom().join('ana'), 'olga', 'Barista opens round 1 once the head is quiet.'],
    ['a reviewer', () => opened(), 'bo', 'Read the pull request with get_pr_context and submit your review with submit_review.'],
    [
      'a reviewer in round 2',
      () => round2(accept),
      'bo',
      'Read the pull request with get_pr_context, with since_round 1 for what changed, and submit your review with submit_review.',
    ],
    [
      'a raiser that reviews first',
      () => round2(accept),
      'ana',
      'Read the pull request with get_pr_context, with since_round 1 for what changed, and submit your review with submit_review. Mark f1 fixed with resolve_finding, or reference what is still broken with stance agree in your review.',
    ],
    [
      'a raiser of a panel without an author',
      () => nextCommit(closed()).submit('ana'),
      'ana',
      'Mark f1 fixed with resolve_finding, or reference what is still broken with stance agree in your review.',
    ],
    [
      'a raiser that has said it is still broken',
      () => round2(accept).submit('ana', { references: [['f1', 'agree']] }),
      'ana',
      'Waiting for @bo to submit their reviews.',
    ],
    ['one that has submitted', () => opened().submit('ana'), 'ana', 'Waiting for @bo to submit their reviews.'],
    ['one that has declined', () => opened().decline('bo'), 'bo', 'Waiting for @ana to submit their reviews.'],
    [
      'one whose decline has run out',
      () => {
        const room = opened();
        return room.decline('bo', 'lunch', room.now + 60_000).pass(1);
      },
      'bo',
      'Read the pull request with get_pr_context and submit your review with submit_review.',
    ],
    [
      'one that waits for somebody whose decline has run out',
      () => {
        const room = opened();
        return room
          .decline('bo', 'lunch', room.now + 60_000)
          .pass(1)
          .submit('ana');
      },
      'ana',
      'Waiting for @bo to submit their reviews.',
    ],
    [
      'one that declined like everybody',
      () => opened().decline('ana').decline('bo').pass(0),
      'ana',
      'Nobody is left to review; @olga decides who does.',
    ],
    ['an author with an unanswered finding', () => closed({ author: true }), 'cy', 'Answer f1 with rebut_finding.'],
    ['an author that accepted', () => accept(closed({ author: true })), 'cy', 'Push the fixes. Barista opens the next round after it.'],
    [
      'a lead while something needs a fix',
      () => accept(closed({ author: true })),
      'ana',
      'Waiting for a push with the fixes. Barista opens the next round after it.',
    ],
    ['a raiser of a rejected finding', () => reject(closed({ author: true })), 'ana', 'Withdraw or uphold f1 with resolve_finding.'],
    [
      'the same without the reviewer role',
      () => reject(closed({ author: true })).roles({ ana: ['lead'] }),
      'ana',
      'Waiting for answers to findings; Barista asks for the draft after that.',
    ],
    [
      'a raiser after the close',
      () => round2(accept).submit('ana').submit('bo').pass(0),
      'ana',
      'Mark f1 fixed with resolve_finding if the new head fixes it.',
    ],
    [
      'a reviewer of a lost raiser',
      () => round2(accept).decline('ana').submit('bo').pass(0),
      'bo',
      'Mark f1 fixed or withdrawn with resolve_finding if you can; the raiser is gone.',
    ],
    ['a lead that is asked', () => opened().submit('ana').submit('bo').pass(0), 'ana', 'Write the combined review with draft_review.'],
    ['a reviewer while the lead drafts', () => opened().submit('ana').submit('bo').pass(0), 'bo', 'Waiting for @ana to draft the review.'],
    ['anybody in a dispute', () => dispute(closed({ author: true })), 'cy', 'What is left is in dispute (f1): @olga decides.'],
    [
      'the owner in a dispute',
      () => dispute(closed({ author: true })),
      'olga',
      'What is left is in dispute (f1): @olga decides. Take the final draft, or have the author accept or the raiser withdraw.',
    ],
    ['the owner with a draft', drafted, 'olga', 'The draft is ready: edit and post it.'],
    [
      'anybody while the next round is coming',
      () => closed({ author: true }).push('b2'),
      'bo',
      'Barista opens round 2 once the new head is quiet.',
    ],
    [
      'anybody in a closed round without Barista and without a lead',
      () =>
        closed()
          .barista(false)
          .roles({ ana: ['reviewer'] }),
      'bo',
      'Waiting for a lead to draft the review.',
    ],
    [
      'anybody in a complete round without Barista and without a lead',
      () =>
        opened()
          .barista(false)
          .roles({ ana: ['reviewer'] })
          .submit('ana')
          .submit('bo'),
      'bo',
      'Every review is in. Waiting for a lead to close the round.',
    ],
    ['whoever has left', () => opened().leave('bo'), 'bo', 'You are not in this room: call join_room.'],
    [
      'one that has submitted, and the pull request is merged',
      () => opened().submit('ana').submit('bo').pullRequest('merged'),
      'ana',
      'The pull request is merged, and the clocks of round 1 have stopped.',
    ],
    [
      'one that has submitted, with another missing, and the pull request is closed',
      () => opened().submit('ana').pullRequest('closed'),
      'ana',
      'The pull request is closed, and the clocks of round 1 have stopped.',
    ],
  ];
  test.each(table)('V6: %s', (_what, make, name, expected) => {
    const room = make();
    expect(nextSteps(room.state, idOf(name), room.now)).toBe(expected);
  });

  test('V6, B15: the owner is told to wait for a push only where one is waited for', () => {
    const mixed = dispute(closed({ author: true, findings: 2 }));
    expect(nextSteps(mixed.state, OWNER, mixed.now)).toBe('Something still needs a fix: wait for a push, or take the final draft now.');
  });

  test('V6: a sixth round is told of as the owner’s choice', () => {
    const room = round5();
    for (const viewer of ['ag_ana', OWNER])
      expect(nextSteps(room.state, viewer, room.now)).toBe(
        'Barista opens no further round: @olga takes the final draft, or asks for a sixth round.',
      );
  });
});

describe('V7: nothing_for_you', () => {
  const done = (room: ClockedRoom): string[] =>
    room.state.participants.filter((one) => nothingForYou(room.state, one.id, room.now)).map((one) => one.name);
  const asksAndDraft = (room: ClockedRoom): ClockedRoom => room.run({ type: 'finalDraft', by: OWNER }).draft('ana');

  const table: [string, () => ClockedRoom, string[]][] = [
    ['nobody while a round is open', () => opened({ author: true }).submit('ana'), []],
    ['nobody while it waits for a push', () => closed(), []],
    ['nobody while the lead is to draft', () => opened().submit('ana').submit('bo').pass(0), []],
    ['everybody with a role once it is drafted; the owner has none', drafted, ['ana', 'bo', 'cy']],
    ['the owner too where it holds a role', () => drafted().roles({ olga: ['reviewer'] }), ['olga', 'ana', 'bo', 'cy']],
    ['also once it is posted', () => drafted().post(), ['ana', 'bo', 'cy']],
    [
      'D8: the author with an unanswered finding, once it is posted',
      () => asksAndDraft(closed({ author: true }).pass(DAY)).post(),
      ['ana', 'bo', 'cy'],
    ],
    ['nobody while the next round is coming', () => drafted().push('b2'), []],
    ['not where Barista opens none', () => drafted().barista(false).push('b2'), ['ana', 'bo', 'cy']],
    ['nobody in the round after', () => nextCommit(drafted()), []],
    ['not the author with an unanswered finding', () => asksAndDraft(closed({ author: true }).pass(DAY)), ['ana', 'bo']],
    ['the author that has accepted', () => asksAndDraft(accept(closed({ author: true })).pass(DAY)), ['ana', 'bo', 'cy']],
    [
      'not the author of an upheld finding',
      () =>
        asksAndDraft(
          reject(closed({ author: true }))
            .resolve('ana', 'f1', 'upheld')
            .pass(DAY),
        ),
      ['ana', 'bo'],
    ],
    ['the author of a dispute: the owner decides', () => dispute(drafted2()), ['ana', 'bo', 'cy']],
    ['not the raiser of a rejected finding inside its 30 minutes', () => reject(drafted2()), ['bo', 'cy']],
    ['the raiser after them', () => reject(drafted2()).pass(30), ['ana', 'bo', 'cy']],
    [
      'the raiser of a rejected finding that can no longer resolve it',
      () => reject(drafted2()).roles({ ana: ['lead'] }),
      ['ana', 'bo', 'cy'],
    ],
    ['whoever is archived out of it', () => opened().run({ type: 'archive', by: OWNER }), ['olga', 'ana', 'bo']],
  ];
  /** A person who leads has drafted at once; f1 is not yet answered. */
  const drafted2 = (): ClockedRoom =>
    closed({ author: true })
      .roles({ olga: ['lead'], ana: ['reviewer'] })
      .draft('olga')
      .roles({ olga: [] });
  test.each(table)('V7: %s', (_what, make, expected) => {
    expect(done(make())).toEqual(expected);
  });

  test('V7: a raiser inside B16, and a reviewer inside B17', () => {
    const inside = (prepare: (room: ClockedRoom) => ClockedRoom): ClockedRoom =>
      prepare(round2(accept))
        .roles({ olga: ['lead'], ana: ['reviewer'] })
        .pass(0)
        .draft('olga')
        .roles({ olga: [] });
    const verify = inside((room) => room.submit('ana').submit('bo'));
    expect([done(verify), done(verify.pass(30))]).toEqual([
      ['bo', 'cy'],
      ['ana', 'bo', 'cy'],
    ]);
    const lost = inside((room) => room.decline('ana').submit('bo'));
    expect([done(lost), done(lost.pass(10))]).toEqual([
      ['ana', 'cy'],
      ['ana', 'bo', 'cy'],
    ]);
  });

  test('V7: without Barista a rejected finding is left to its raiser for as long as the round is the latest', () => {
    const room = reject(closed({ author: true }))
      .barista(false)
      .pass(DAY)
      .draft('ana');
    expect(done(room)).toEqual(['bo', 'cy']);
    expect(done(room.resolve('ana', 'f1', 'withdrawn'))).toEqual(['ana', 'bo', 'cy']);
  });
});
