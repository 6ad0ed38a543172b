import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { standings } from '../../workflows/room/findings.js';
import { type SkippedTime, type TimedRoom, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

const panel = async (...names: string[]): Promise<TimedRoom> => (await time.room()).opens(...names);

/** @ada builds, @ben reviews and leads; round 1 is closed with a finding of @ben at minute 2. */
async function duelClosed(): Promise<TimedRoom> {
  const room = await (await time.room({ recipe: 'build_duel' })).opens('ada', 'ben');
  await room.submit('ben', 'request_changes', [{}]);
  await room.closes(1);
  return room;
}

/** Lives of a room with nobody watching, from joining to the draft, each with all that was said and its minute: what follows a close. */
describe('a room with Barista goes to its draft with nobody present: the draft', () => {
  test('B14: upheld at minute 29 of 30 it waits for a push', async () => {
    const room = await duelClosed();
    await room.answer('ada', 'f1', 'reject');
    await room.minutes(29);
    await room.resolve('ben', 'f1', 'upheld');
    await room.minutes(60);
    expect(room.said(/draft the review/)).toEqual([]);
    await room.push('a2');
    await room.minutes(3);
    await room.resolve('ben', 'f1', 'fixed');
    await room.submit('ben', 'approve');
    await room.eventually(/draft the review/);
    await room.draft('ben');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (build_duel, Barista runs it)",
        "0 @ada joined",
        "0 @ada is author",
        "0 @ben joined",
        "0 @ben is lead + reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ben",
        "2 @ben submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ben: request_changes — summary of ben",
        "2 @ada rejected finding f1 (a.ts:1): why",
        "31 @ben upheld finding f1 (a.ts:1)",
        "93 barista: round 2 opened at a200000; reviewers: @ben; 1 finding carried",
        "94 @ben marked finding f1 fixed at a200000",
        "94 @ben submitted a review",
        "94 barista: round 2 closed: every reviewer has submitted
      @ben: approve — summary of ben",
        "94 barista: @ben: draft the review of round 2 with draft_review",
        "94 @ben drafted the review of round 2: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B14: not upheld it is drafted as rejected after 30 minutes', async () => {
    const room = await duelClosed();
    await room.answer('ada', 'f1', 'reject');
    await room.minutes(31);
    await room.draft('ben');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (build_duel, Barista runs it)",
        "0 @ada joined",
        "0 @ada is author",
        "0 @ben joined",
        "0 @ben is lead + reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ben",
        "2 @ben submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ben: request_changes — summary of ben",
        "2 @ada rejected finding f1 (a.ts:1): why",
        "32 barista: @ben: draft the review of round 1 with draft_review",
        "33 @ben drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
    expect(standings(await room.state())).toEqual([{ finding: 'f1', standing: 'rejected' }]);
  });

  test('B14, B18: upheld at minute 31, after the ask, it does not take the ask back; the standing shows it', async () => {
    const room = await duelClosed();
    await room.answer('ada', 'f1', 'reject');
    await room.minutes(31);
    await room.resolve('ben', 'f1', 'upheld');
    await room.minutes(5);
    await room.draft('ben');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (build_duel, Barista runs it)",
        "0 @ada joined",
        "0 @ada is author",
        "0 @ben joined",
        "0 @ben is lead + reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ben",
        "2 @ben submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ben: request_changes — summary of ben",
        "2 @ada rejected finding f1 (a.ts:1): why",
        "32 barista: @ben: draft the review of round 1 with draft_review",
        "33 @ben upheld finding f1 (a.ts:1)",
        "38 @ben drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
    expect(standings(await room.state())).toEqual([{ finding: 'f1', standing: 'needs_fix' }]);
  });

  test('B15: a dispute waits for the owner alone, and the final draft ends it', async () => {
    const room = await duelClosed();
    await room.answer('ada', 'f1', 'reject');
    await room.resolve('ben', 'f1', 'upheld');
    await room.answer('ada', 'f1', 'reject');
    await room.minutes(3 * 24 * 60);
    await room.send({ type: 'finalDraft', by: 'us_olga' });
    await room.eventually(/draft the review/);
    await room.draft('ben');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (build_duel, Barista runs it)",
        "0 @ada joined",
        "0 @ada is author",
        "0 @ben joined",
        "0 @ben is lead + reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ben",
        "2 @ben submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ben: request_changes — summary of ben",
        "2 @ada rejected finding f1 (a.ts:1): why",
        "2 @ben upheld finding f1 (a.ts:1)",
        "2 @ada rejected finding f1 (a.ts:1): why",
        "4322 @olga asked for the final draft of round 1 as it is",
        "4322 barista: @ben: draft the review of round 1 with draft_review, as the round is",
        "4322 @ben drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B19, B20: the lead is gone, the draft is handed on twice and assembled', async () => {
    const room = await panel('ana', 'bo', 'cy');
    for (const name of ['ana', 'bo', 'cy']) await room.submit(name, 'approve');
    await room.eventually(/draft the review/);
    await room.minutes(100);
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "0 @cy joined",
        "0 @cy is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana, @bo and @cy",
        "2 @ana submitted a review",
        "2 @bo submitted a review",
        "2 @cy submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ana: approve — summary of ana
      @bo: approve — summary of bo
      @cy: approve — summary of cy",
        "2 barista: @ana: draft the review of round 1 with draft_review",
        "12 barista: @ana: the draft of round 1 is still to be written",
        "32 barista: @ana is reviewer; @bo is lead + reviewer",
        "32 barista: @bo: draft the review of round 1 with draft_review",
        "42 barista: @bo: the draft of round 1 is still to be written",
        "62 barista: @bo is reviewer; @cy is lead + reviewer",
        "62 barista: @cy: draft the review of round 1 with draft_review",
        "72 barista: @cy: the draft of round 1 is still to be written",
        "92 barista: the draft of round 1 was assembled from the reviews, for no agent drafted it; @olga, check it before you post",
      ]
    `);
  });

  test('B21: a person who leads is reminded and never replaced', async () => {
    const room = await time.room();
    await room.join('pia', 'person');
    await room.roles({ us_pia: ['lead'] });
    await room.join('ana');
    await room.minutes(2);
    await room.eventually(/round 1 opened/);
    await room.submit('ana', 'approve');
    await room.minutes(24 * 60);
    await room.send({ type: 'saveDraft', by: 'us_pia', draft: { verdict: 'approve', body: 'draft', findings: [] } });
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @pia joined",
        "0 @pia is lead",
        "0 @ana joined",
        "0 @ana is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana",
        "2 @ana submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "2 barista: @pia: draft the review of round 1 with draft_review",
        "12 barista: @pia: the draft of round 1 is still to be written",
        "1442 @pia drafted the review of round 1: approve, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B22, B23: fixes never pushed, then the final draft', async () => {
    const room = await duelClosed();
    await room.answer('ada', 'f1', 'accept');
    await room.minutes(24 * 60 + 1);
    await room.send({ type: 'finalDraft', by: 'us_olga' });
    await room.eventually(/draft the review/);
    await room.draft('ben');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (build_duel, Barista runs it)",
        "0 @ada joined",
        "0 @ada is author",
        "0 @ben joined",
        "0 @ben is lead + reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ben",
        "2 @ben submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ben: request_changes — summary of ben",
        "2 @ada accepted finding f1 (a.ts:1)",
        "1442 barista: no fixes were pushed within 1 day of the close; @olga can have the final draft now",
        "1443 @olga asked for the final draft of round 1 as it is",
        "1443 barista: @ben: draft the review of round 1 with draft_review, as the round is",
        "1443 @ben drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B24: a push after the draft makes it stale and opens the next round, which is drafted anew', async () => {
    const room = await panel('ana');
    await room.submit('ana', 'approve');
    await room.eventually(/draft the review/);
    await room.draft('ana');
    await room.push('a2');
    await room.minutes(3);
    await room.submit('ana', 'approve');
    await room.eventually(/draft the review of round 2/);
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana",
        "2 @ana submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "2 barista: @ana: draft the review of round 1 with draft_review",
        "2 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
        "4 barista: round 2 opened at a200000; reviewers: @ana; 0 findings carried",
        "5 @ana submitted a review",
        "5 barista: round 2 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "5 barista: @ana: draft the review of round 2 with draft_review",
        "5 @ana drafted the review of round 2: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });
});
