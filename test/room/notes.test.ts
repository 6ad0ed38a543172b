import { describe, expect, test } from 'vitest';
import { noteOf, short } from '../../workflows/room/notes.js';
import type { RoomFact } from '../../workflows/room/events.js';
import { OWNER, type RoomInput, type TestRoom, aRoom } from '../support/room.js';

/** ana leads and reviews, grok and kim review, pia is the author. */
const crew = (input: RoomInput = {}): TestRoom =>
  aRoom(input)
    .join('ana', 'grok', 'kim', 'pia')
    .roles({ pia: ['author'] });
const open = (input?: RoomInput): TestRoom => crew(input).open('ana');
const reviewed = (input?: RoomInput): TestRoom =>
  open(input)
    .submit('ana', { verdict: 'approve', summary: 'Fine.' })
    .submit('grok', { findings: [{ line: 3 }] });
const inDuel = (): TestRoom =>
  crew()
    .run({ type: 'setRecipe', by: OWNER, recipe: 'build_duel' })
    .open('ana')
    .submit('ana')
    .submit('grok', { findings: [{ line: 3 }] });

/** The notes of the last act, each as: text, whom it mentions, its event. */
function posted(room: TestRoom, act: (room: TestRoom) => unknown): string[] {
  const before = room.notes.length;
  act(room);
  return room.notes.slice(before).map(({ text, mentions, event }) => `${text} → ${mentions.join(', ') || 'nobody'} [${event ?? '-'}]`);
}
const told = (room: TestRoom, fact: RoomFact): string[] => posted(room, (it) => it.emit(fact));

describe('members', () => {
  test('O4: a room that opens says for what, and who runs it', () => {
    const openedAs = (input: RoomInput): string => {
      const { state, events, text } = aRoom(input);
      return noteOf(state, events[0]!, text)!.text;
    };
    expect([openedAs({ barista: true }), openedAs({ recipe: 'build_duel' }), openedAs({ automatic: true })]).toMatchInlineSnapshot(`
      [
        "room opened for local:/r?base=main&head=topic (panel, Barista runs it)",
        "room opened for local:/r?base=main&head=topic (build_duel)",
        "room opened by itself for local:/r?base=main&head=topic (panel)",
      ]
    `);
  });

  test('R3: each change of roles posts a note', () => {
    expect(posted(crew(), (room) => room.roles({ kim: ['lead', 'author'], grok: [] }))).toMatchInlineSnapshot(`
      [
        "@kim is lead + author; @grok is without a role → ag_kim, ag_grok [roles_changed]",
      ]
    `);
    expect(posted(aRoom(), (room) => room.join('ana'))).toMatchInlineSnapshot(`
      [
        "@ana joined → nobody [-]",
        "@ana is lead + reviewer → nobody [roles_changed]",
      ]
    `);
  });

  test('R6, R7: leaving and being deleted', () => {
    expect(posted(crew(), (room) => room.leave('grok').delete('kim'))).toMatchInlineSnapshot(`
      [
        "@grok left → nobody [-]",
        "@kim was deleted, and its reviews and findings with it → nobody [-]",
      ]
    `);
  });

  test('R3, B26: the recipe, and Barista', () => {
    expect(posted(crew(), (room) => room.run({ type: 'setRecipe', by: OWNER, recipe: 'build_duel' }))).toMatchInlineSnapshot(`
      [
        "the recipe is now build_duel; roles stay as they are → nobody [-]",
      ]
    `);
    expect(posted(crew(), (room) => room.barista(true).barista(true, { headQuiet: 1_000 }).barista(false))).toMatchInlineSnapshot(`
      [
        "barista: Barista runs this room from now on → nobody [-]",
        "barista: the room's durations were changed; they count from now on → nobody [-]",
        "Barista is off; the lead opens and closes the rounds → nobody [-]",
      ]
    `);
  });
});

describe('rounds', () => {
  test('O2: opening gives the number, the short commit and the reviewers, whom it mentions', () => {
    expect(posted(crew(), (room) => room.open('ana'))).toMatchInlineSnapshot(`
      [
        "round 1 opened at a100000; reviewers: @ana, @grok and @kim → ag_ana, ag_grok, ag_kim [round_opened]",
      ]
    `);
    expect(
      posted(
        aRoom()
          .join('pia')
          .roles({ pia: ['lead'] }),
        (room) => room.open('pia'),
      ),
    ).toMatchInlineSnapshot(`
      [
        "round 1 opened at a100000; reviewers: nobody → nobody [round_opened]",
      ]
    `);
  });

  test('O2: from round 2 on it says how many findings are carried', () => {
    expect(posted(reviewed().close('ana'), (room) => room.pushUnheard('b2').open('ana'))).toMatchInlineSnapshot(`
      [
        "round 2 opened at b200000; reviewers: @ana, @grok and @kim; 1 finding carried → ag_ana, ag_grok, ag_kim [round_opened]",
      ]
    `);
    expect(posted(open().submit('ana').close('ana'), (room) => room.open('ana'))).toMatchInlineSnapshot(`
      [
        "round 2 opened at a100000; reviewers: @ana, @grok and @kim; 0 findings carried → ag_ana, ag_grok, ag_kim [round_opened]",
      ]
    `);
  });

  test('B1: what Barista opens and closes starts with its name', () => {
    const room = crew({ barista: true });
    expect(posted(room, (it) => it.baristaOpens())).toMatchInlineSnapshot(`
      [
        "barista: round 1 opened at a100000; reviewers: @ana, @grok and @kim → ag_ana, ag_grok, ag_kim [round_opened]",
      ]
    `);
    room.submit('ana').submit('grok');
    expect(posted(room, (it) => it.baristaCloses('idle'))).toMatchInlineSnapshot(`
      [
        "barista: round 1 closed: whoever is missing was idle for 30 minutes; without @kim
      @ana: comment — summary of ana
      @grok: comment — summary of grok → nobody [round_closed]",
      ]
    `);
    expect(posted(open({ barista: true }).submit('ana'), (it) => it.baristaCloses('cap'))).toMatchInlineSnapshot(`
      [
        "barista: round 1 closed: 1 hour, 30 minutes are over; without @grok and @kim
      @ana: comment — summary of ana → nobody [round_closed]",
      ]
    `);
    expect(posted(reviewed({ barista: true }).submit('kim'), (it) => it.baristaCloses())).toMatchInlineSnapshot(`
      [
        "barista: round 1 closed: every reviewer has submitted
      @ana: approve — Fine.
      @grok: comment — summary of grok
      @kim: comment — summary of kim → us_pia [round_closed]",
      ]
    `);
  });

  test('N2: closing names who is missing, then one line per review', () => {
    expect(posted(reviewed(), (room) => room.close('ana'))).toMatchInlineSnapshot(`
      [
        "round 1 closed; without @kim
      @ana: approve — Fine.
      @grok: comment — summary of grok → us_pia [round_closed]",
      ]
    `);
  });

  test('S7, N2: who declined is named as declined', () => {
    expect(posted(open().submit('ana').decline('kim'), (room) => room.close('ana'))).toMatchInlineSnapshot(`
      [
        "round 1 closed; without @grok; declined by @kim
      @ana: comment — summary of ana → nobody [round_closed]",
      ]
    `);
    expect(posted(open(), (room) => room.decline('kim', 'no access\nto the repository'))).toMatchInlineSnapshot(`
      [
        "@kim declined to review round 1: no access to the repository → nobody [-]",
      ]
    `);
  });

  test('N2: a head that moved, or that could not be checked, is said', () => {
    const all = (): TestRoom => open().leave('grok').leave('kim').submit('ana');
    expect(posted(all().pushUnheard('b2'), (room) => room.close('ana'))).toMatchInlineSnapshot(`
      [
        "round 1 closed; the head has moved to b200000; the reviews are of a100000
      @ana: comment — summary of ana → nobody [round_closed]",
      ]
    `);
    expect(posted(all(), (room) => room.run({ type: 'closeRound', by: 'ag_ana', head: null }))).toMatchInlineSnapshot(`
      [
        "round 1 closed; the head could not be checked
      @ana: comment — summary of ana → nobody [round_closed]",
      ]
    `);
  });

  test('N1: the same notes as a close and an open', () => {
    expect(posted(reviewed().pushUnheard('b2'), (room) => room.next('ana', true))).toMatchInlineSnapshot(`
      [
        "round 1 closed; without @kim; the head has moved to b200000; the reviews are of a100000
      @ana: approve — Fine.
      @grok: comment — summary of grok → us_pia [round_closed]",
        "round 2 opened at b200000; reviewers: @ana, @grok and @kim; 1 finding carried → ag_ana, ag_grok, ag_kim [round_opened]",
      ]
    `);
  });

  test('O4: each step posts one note; a review says nothing of its content', () => {
    expect(posted(open(), (room) => room.submit('grok', { findings: [{}] }).submit('grok'))).toMatchInlineSnapshot(`
      [
        "@grok submitted a review → nobody [-]",
        "@grok replaced its review → nobody [-]",
      ]
    `);
  });

  test('O4: what only keeps the books posts none', () => {
    expect(posted(reviewed(), (room) => room.reveal('grok'))).toEqual([]);
    const drafted = reviewed().close('ana').draft('ana');
    expect(posted(drafted, (room) => room.edit({ body: 'mine' }).startPosting())).toEqual([]);
  });

  test('O4: in build + duel a review is told to the author, who answers it; the last one to a lead that closes the round itself', () => {
    const duel = (barista: boolean) =>
      aRoom({ recipe: 'build_duel', barista })
        .join('pia', 'ana', 'kim')
        .roles({ ana: ['reviewer'], kim: ['lead', 'reviewer'], pia: ['author'] })
        .open('kim');
    const told = (room: TestRoom, name: string) => posted(room, (it) => it.submit(name))[0];
    const byHand = duel(false);
    expect(told(byHand, 'kim')).toBe('@kim submitted a review → us_pia [-]');
    expect(told(byHand, 'ana')).toBe('@ana submitted a review → us_pia, ag_kim [-]');
    const byBarista = duel(true).submit('kim');
    expect(told(byBarista, 'ana')).toBe('@ana submitted a review → us_pia [-]');
    const panel = crew()
      .roles({ kim: ['author'] })
      .open('ana')
      .submit('ana');
    expect(told(panel, 'grok')).toBe('@grok submitted a review → ag_ana [-]');
  });

  test('O4, S7: that the last one declines is told to a lead that closes the round itself', () => {
    const told = (room: TestRoom) => posted(room, (it) => it.decline('kim', 'no time'))[0];
    const open = () => crew().open('ana').submit('ana');
    expect(told(open())).toBe('@kim declined to review round 1: no time → nobody [-]');
    expect(told(open().submit('grok'))).toBe('@kim declined to review round 1: no time → ag_ana [-]');
    expect(told(open().submit('grok').barista(true))).toBe('@kim declined to review round 1: no time → nobody [-]');
  });

  test('O4: the close is told to an author that has something left to answer', () => {
    const left = crew()
      .open('ana')
      .submit('ana', { findings: [{}] });
    expect(posted(left, (it) => it.close('ana'))[0]).toContain('→ us_pia [round_closed]');
    const answered = crew().open('ana').submit('ana').close('ana');
    expect(answered.notes.at(-1)!.mentions).toEqual([]);
  });

  test('O4, B14, B16, B17: in a Barista room the close is told to whom it gives time to answer', () => {
    const accepted = () =>
      aRoom({ recipe: 'build_duel', barista: true })
        .join('pia', 'ana', 'kim')
        .roles({ ana: ['reviewer'], kim: ['lead', 'reviewer'], pia: ['author'] })
        .open('kim')
        .submit('ana', { findings: [{}] })
        .submit('kim')
        .answer('pia', 'f1', 'accept')
        .close('kim')
        .push('b2')
        .open('kim');
    const closed = (room: TestRoom) => posted(room, (it) => it.close('kim'))[0]!.replace(/[^]* →/, '→');
    const verify = accepted().submit('kim').submit('ana');
    expect(closed(verify)).toBe('→ ag_ana [round_closed]');
    const lost = accepted().submit('kim').decline('ana');
    expect(closed(lost)).toBe('→ ag_kim [round_closed]');
    const rejected = accepted()
      .submit('kim')
      .submit('ana', { findings: [{}] })
      .answer('pia', 'f2', 'reject', 'no');
    expect(closed(rejected)).toBe('→ ag_ana [round_closed]');
  });
});

describe('pushes', () => {
  test('P1: a new head mentions the lead', () => {
    expect(posted(open(), (room) => room.push('b2', 2).push('c3', 1).push('d4', null))).toMatchInlineSnapshot(`
      [
        "head moved to b200000 — 2 new commits; the lead can close this round and open the next → ag_ana [head_moved]",
        "head moved to c300000 — 1 new commit; the lead can close this round and open the next → ag_ana [head_moved]",
        "head moved to d400000 — history rewritten; the lead can close this round and open the next → ag_ana [head_moved]",
      ]
    `);
  });

  test('P1: no note for the round’s own commit, for the same head again, or with no round open', () => {
    expect(posted(open(), (room) => room.push('a1'))).toEqual([]);
    expect(posted(open().push('b2'), (room) => room.push('b2'))).toEqual([]);
    expect(posted(open().push('b2'), (room) => room.push('a1'))).toEqual([]);
    expect(posted(reviewed().close('ana'), (room) => room.push('b2'))).toEqual([]);
  });

  test('P1: where the number of commits is not known the note gives none', () => {
    const move = { commits: null, rewritten: false };
    expect(told(open(), { type: 'HeadLearnt', sha: 'b'.repeat(40), baseSha: 'c'.repeat(40), move })).toMatchInlineSnapshot(`
      [
        "head moved to bbbbbbb — new commits; the lead can close this round and open the next → ag_ana [head_moved]",
      ]
    `);
  });

  test('P1: a head that returns is a new note', () => {
    expect(posted(open(), (room) => room.push('b2').push('c3').push('b2'))).toHaveLength(3);
  });

  test('P2: in a Barista room it mentions nobody', () => {
    expect(posted(open({ barista: true }), (room) => room.push('def5678', 3).push('c3', 1))).toMatchInlineSnapshot(`
      [
        "barista: head moved to def5678 (3 new commits). Barista closes this round on its own rules; the next round opens at the new head after that. → nobody [head_moved]",
        "barista: head moved to c300000 (1 new commit). Barista closes this round on its own rules; the next round opens at the new head after that. → nobody [head_moved]",
      ]
    `);
  });

  test('P5: a pull request that is closed, merged or reopened', () => {
    expect(posted(open({ barista: true }), (room) => room.pullRequest('closed').pullRequest('open'))).toMatchInlineSnapshot(`
      [
        "barista: the pull request was closed; the clocks stop → nobody [-]",
        "barista: the pull request was reopened; the clocks run again → nobody [-]",
      ]
    `);
    expect(posted(open(), (room) => room.pullRequest('merged'))).toMatchInlineSnapshot(`
      [
        "the pull request was merged → nobody [-]",
      ]
    `);
  });
});

describe('answers', () => {
  const answers = (room: TestRoom): string[] => [
    ...posted(room, (it) => it.answer('pia', 'f1', 'reject', 'It cannot\nbe null.')),
    ...posted(room, (it) => it.resolve('grok', 'f1', 'upheld', 'It can.')),
    ...posted(room, (it) => it.answer('pia', 'f1', 'accept')),
    ...posted(room, (it) => it.resolve('grok', 'f1', 'fixed')),
  ];

  test("A5: an answer mentions the raiser, a resolution the author; fixed names the round's commit", () => {
    expect(answers(reviewed().submit('kim').close('ana'))).toMatchInlineSnapshot(`
      [
        "@pia rejected finding f1 (src/a.ts:3): It cannot be null. → ag_grok [finding_answered]",
        "@grok upheld finding f1 (src/a.ts:3): It can. → us_pia [finding_resolved]",
        "@pia accepted finding f1 (src/a.ts:3) → ag_grok [finding_answered]",
        "@grok marked finding f1 fixed at a100000 → us_pia [finding_resolved]",
      ]
    `);
  });

  test('A5: whoever has left, or answers its own finding, is not mentioned', () => {
    const left = reviewed().submit('kim').close('ana').leave('grok');
    expect(posted(left, (it) => it.answer('pia', 'f1', 'accept'))).toEqual([
      '@pia accepted finding f1 (src/a.ts:3) → nobody [finding_answered]',
    ]);
    const both = reviewed()
      .submit('kim')
      .close('ana')
      .roles({ grok: ['author', 'reviewer'], pia: ['author'] });
    expect(posted(both, (it) => it.answer('grok', 'f1', 'accept'))).toEqual([
      '@grok accepted finding f1 (src/a.ts:3) → nobody [finding_answered]',
    ]);
    expect(posted(both, (it) => it.resolve('grok', 'f1', 'fixed'))).toEqual([
      '@grok marked finding f1 fixed at a100000 → us_pia [finding_resolved]',
    ]);
  });

  test('A5: in build + duel the same while the round is open, once every reviewer has submitted', () => {
    expect(answers(inDuel().submit('kim'))).toEqual(answers(reviewed().submit('kim').close('ana')));
  });

  test('V2: in build + duel, while somebody may not know the review, the note tells no content', () => {
    expect(answers(inDuel())).toMatchInlineSnapshot(`
      [
        "@pia answered finding f1 → ag_grok [finding_answered]",
        "@grok resolved finding f1 → us_pia [finding_resolved]",
        "@pia answered finding f1 → ag_grok [finding_answered]",
        "@grok resolved finding f1 → us_pia [finding_resolved]",
      ]
    `);
    expect(answers(inDuel().decline('kim'))).toEqual(answers(inDuel()));
  });

  test('A5: a carried finding is answered in full, fixed at the new commit; the whole file has no line', () => {
    const room = open()
      .submit('ana')
      .submit('grok', { findings: [{ line: null }] })
      .submit('kim')
      .close('ana')
      .push('b2')
      .open('ana');
    expect(answers(room)).toMatchInlineSnapshot(`
      [
        "@pia rejected finding f1 (src/a.ts): It cannot be null. → ag_grok [finding_answered]",
        "@grok upheld finding f1 (src/a.ts): It can. → us_pia [finding_resolved]",
        "@pia accepted finding f1 (src/a.ts) → ag_grok [finding_answered]",
        "@grok marked finding f1 fixed at b200000 → us_pia [finding_resolved]",
      ]
    `);
  });

  test('A6: in a panel, while the round is open, a note tells only that there is an answer', () => {
    expect(answers(reviewed())).toMatchInlineSnapshot(`
      [
        "a finding of this round was answered; the round shows how once it closes → nobody [-]",
        "a finding of this round was resolved; the round shows how once it closes → nobody [-]",
        "a finding of this round was answered; the round shows how once it closes → nobody [-]",
        "a finding of this round was resolved; the round shows how once it closes → nobody [-]",
      ]
    `);
  });

  test('A6: the close wakes raisers whose findings were answered and are open, and authors once something was resolved', () => {
    const room = reviewed().submit('kim', { findings: [{}, {}] });
    room.answer('pia', 'f1', 'accept').answer('pia', 'f2', 'reject', 'no').resolve('kim', 'f2', 'withdrawn');
    expect(posted(room, (it) => it.close('ana'))).toMatchInlineSnapshot(`
      [
        "round 1 closed
      @ana: approve — Fine.
      @grok: comment — summary of grok
      @kim: comment — summary of kim → ag_grok, us_pia [round_closed]",
      ]
    `);
    expect(posted(reviewed().answer('pia', 'f1', 'accept').leave('grok'), (it) => it.close('ana'))[0]).toContain('→ nobody [round_closed]');
    const carried = reviewed().close('ana').push('b2').open('ana').submit('ana').answer('pia', 'f1', 'accept');
    expect(posted(carried, (it) => it.close('ana'))[0]).toContain('→ nobody [round_closed]');
  });

  test('A9: a reviewer that settles for a lost raiser says whose finding it was', () => {
    const room = reviewed().close('ana').answer('pia', 'f1', 'accept').leave('grok');
    expect(posted(room, (it) => it.resolve('ana', 'f1', 'fixed'))).toMatchInlineSnapshot(`
      [
        "@ana marked finding f1 of @grok fixed at a100000 → us_pia [finding_resolved]",
      ]
    `);
  });
});

describe('drafts', () => {
  const drafted = (): TestRoom =>
    reviewed()
      .close('ana')
      .draft('ana', { verdict: 'request_changes', findings: [{}] });

  test('D1: a draft wakes the owner', () => {
    expect(posted(reviewed().close('ana'), (room) => room.draft('ana', { findings: [{}, {}] }))).toMatchInlineSnapshot(`
      [
        "@ana drafted the review of round 1: comment, 2 findings; @olga edits and posts it → us_olga [draft_saved]",
      ]
    `);
  });

  test('B23: the owner asks for the final draft', () => {
    expect(told(reviewed().close('ana'), { type: 'FinalDraftTaken', by: OWNER })).toMatchInlineSnapshot(`
      [
        "@olga asked for the final draft of round 1 as it is → nobody [-]",
      ]
    `);
  });

  test("D3: where the owner's edits were replaced, the note says so", () => {
    expect(posted(drafted(), (room) => room.draft('ana', { body: 'again' }))[0]).not.toContain('replaced');
    expect(posted(drafted().edit({ body: 'mine' }), (room) => room.draft('ana', { body: 'again' }))).toMatchInlineSnapshot(`
      [
        "@ana drafted the review of round 1: comment, 0 findings; the owner's edits were replaced; @olga edits and posts it → us_olga [draft_saved]",
      ]
    `);
  });

  test('D5: posted, or failed', () => {
    expect(posted(drafted(), (room) => room.post())).toMatchInlineSnapshot(`
      [
        "the review of round 1 is posted: https://forge.example/review/1 → nobody [posted]",
      ]
    `);
    expect(told(drafted().startPosting(), { type: 'PostingFailed', reason: 'the forge refused it' })).toMatchInlineSnapshot(`
      [
        "posting the review failed: the forge refused it → us_olga [-]",
      ]
    `);
  });

  test('B20: an assembled draft is Barista’s', () => {
    const { round } = reviewed().close('ana').state;
    const saved: RoomFact = {
      type: 'DraftSaved',
      round: 1,
      headSha: round!.headSha,
      verdict: 'comment',
      body: 'tx',
      findings: [],
      by: 'barista',
      version: 1,
    };
    expect(told(reviewed().close('ana'), saved)).toMatchInlineSnapshot(`
      [
        "barista: the draft of round 1 was assembled from the reviews, for no agent drafted it; @olga, check it before you post → us_olga [draft_saved]",
      ]
    `);
  });
});

describe('what Barista says', () => {
  const closed = (): TestRoom => reviewed({ barista: true }).close('ana');
  const facts: [string, () => TestRoom, RoomFact][] = [
    ['B8', () => open({ barista: true }), { type: 'NoReviewNoted', number: 1 }],
    ['B9', () => open({ barista: true }), { type: 'ReviewersReminded', reviewers: ['ag_grok', 'ag_kim'] }],
    ['B13', closed, { type: 'RoundLimitNoted' }],
    ['B18', closed, { type: 'DraftAsked', leads: ['ag_ana'], why: 'ready' }],
    ['B19', closed, { type: 'LeadsReminded', leads: ['ag_ana'] }],
    ['B22', closed, { type: 'FixesNotPushedNoted' }],
    ['B23', closed, { type: 'DraftAsked', leads: ['ag_ana'], why: 'final' }],
    [
      'B24',
      () =>
        closed()
          .roles({ olga: ['lead'] })
          .draft('olga')
          .push('b2'),
      { type: 'DraftStaleNoted' },
    ],
  ];
  test('B1: every note of Barista starts with its name, and mentions who must act', () => {
    expect(facts.map(([rule, before, fact]) => `${rule}: ${told(before(), fact).join()}`)).toMatchInlineSnapshot(`
      [
        "B8: barista: round 1 has no review and stays open until one comes; @olga, it may need another reviewer → us_olga [reminder]",
        "B9: barista: @grok and @kim: round 1 waits for your review; submit it, or say with decline_review that you cannot → ag_grok, ag_kim [reminder]",
        "B13: barista: round 1 was the last one Barista opens; for another, ask the lead to call open_review_round → nobody [-]",
        "B18: barista: @ana: draft the review of round 1 with draft_review → ag_ana [draft_asked]",
        "B19: barista: @ana: the draft of round 1 is still to be written → ag_ana [reminder]",
        "B22: barista: no fixes were pushed within 1 day of the close; @olga can have the final draft now → us_olga [-]",
        "B23: barista: @ana: draft the review of round 1 with draft_review, as the round is → ag_ana [draft_asked]",
        "B24: barista: the head moved to b200000: the draft reviews a100000 and may be posted as it is → us_olga [-]",
      ]
    `);
    for (const [, before, fact] of facts) expect(told(before(), fact)[0]).toMatch(/^barista: /);
  });
});

describe('quoting', () => {
  test('a text is quoted as one short line', () => {
    expect(short('  a\n\n b\tc ')).toBe('a b c');
    expect(short('x'.repeat(300))).toHaveLength(300);
    expect(short('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`);
    expect([...short('🦀'.repeat(301))]).toHaveLength(300);
  });

  test('R12: the end of a room', () => {
    expect(posted(crew(), (room) => room.run({ type: 'archive', by: OWNER }))).toMatchInlineSnapshot(`
      [
        "the room was archived → nobody [-]",
      ]
    `);
    expect(told(crew(), { type: 'RoomEnded', reason: 'merged' })).toMatchInlineSnapshot(`
      [
        "the room has ended: the pull request was merged → nobody [-]",
      ]
    `);
  });
});
