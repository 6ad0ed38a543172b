import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SkippedTime, type TimedRoom, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

const panel = async (...names: string[]): Promise<TimedRoom> => (await time.room()).opens(...names);
const duel = async (): Promise<TimedRoom> => (await time.room({ recipe: 'build_duel' })).opens('ada', 'ben');

/** Lives of a room with nobody watching, from joining to the draft, each with all that was said and its minute: how rounds end. */
describe('a room with Barista goes to its draft with nobody present: rounds', () => {
  test('the quiet panel', async () => {
    const room = await panel('ana', 'bo');
    await room.submit('ana', 'approve');
    await room.submit('bo', 'approve');
    await room.eventually(/draft the review/);
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "2 @ana submitted a review",
        "2 @bo submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted
      @ana: approve — summary of ana
      @bo: approve — summary of bo",
        "2 barista: @ana: draft the review of round 1 with draft_review",
        "2 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('the idle reviewer', async () => {
    const room = await panel('ana', 'bo');
    await room.submit('ana', 'approve');
    await room.minutes(31);
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "2 @ana submitted a review",
        "12 barista: @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot",
        "32 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @bo
      @ana: approve — summary of ana",
        "32 barista: @ana: draft the review of round 1 with draft_review",
        "33 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('the cap while a reviewer works', async () => {
    const room = await panel('ana', 'bo');
    await room.submit('ana', 'approve');
    for (let call = 0; call < 23; call++) {
      await room.call('bo');
      await room.minutes(4);
    }
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "2 @ana submitted a review",
        "92 barista: round 1 closed: 1 hour, 30 minutes are over; without @bo
      @ana: approve — summary of ana",
        "92 barista: @ana: draft the review of round 1 with draft_review",
        "94 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('no review at all for a day, then one', async () => {
    const room = await panel('ana', 'bo');
    await room.minutes(24 * 60);
    await room.submit('bo', 'approve');
    await room.eventually(/draft the review/);
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "12 barista: @ana and @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot",
        "92 barista: round 1 has no review and stays open until one comes; @olga, it may need another reviewer",
        "1442 @bo submitted a review",
        "1442 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @ana
      @bo: approve — summary of bo",
        "1442 barista: @ana: draft the review of round 1 with draft_review",
        "1442 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
    expect(room.notes.find(({ text }) => text.includes('has no review'))?.mentions).toEqual(['us_olga']);
  });

  test('push in mid-round: the next round opens by itself, and again after three pushes within 2 minutes', async () => {
    const room = await duel();
    await room.push('a2');
    await room.submit('ben', 'request_changes', [{}]);
    await room.closes(1);
    await room.answer('ada', 'f1', 'accept');
    await room.minutes(1);
    await room.push('a3');
    await room.minutes(1);
    await room.push('a4');
    await room.minutes(1);
    await room.push('a5');
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
        "2 barista: head moved to a200000 (1 new commit). Barista closes this round on its own rules; the next round opens at the new head after that.",
        "2 @ben submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted; the head has moved to a200000; the reviews are of a100000
      @ben: request_changes — summary of ben",
        "2 @ada accepted finding f1 (a.ts:1)",
        "7 barista: round 2 opened at a500000; reviewers: @ben; 1 finding carried",
        "8 @ben marked finding f1 fixed at a500000",
        "8 @ben submitted a review",
        "8 barista: round 2 closed: every reviewer has submitted
      @ben: approve — summary of ben",
        "8 barista: @ben: draft the review of round 2 with draft_review",
        "8 @ben drafted the review of round 2: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('P5: a force-push is a push', async () => {
    const room = await panel('ana');
    await room.push('ff', { move: { commits: null, rewritten: true } });
    await room.submit('ana', 'approve');
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
        "2 barista: head moved to ff00000 (history rewritten). Barista closes this round on its own rules; the next round opens at the new head after that.",
        "2 @ana submitted a review",
        "2 barista: round 1 closed: every reviewer has submitted; the head has moved to ff00000; the reviews are of a100000
      @ana: approve — summary of ana",
        "4 barista: round 2 opened at ff00000; reviewers: @ana; 0 findings carried",
        "5 @ana submitted a review",
        "5 barista: round 2 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "5 barista: @ana: draft the review of round 2 with draft_review",
        "5 @ana drafted the review of round 2: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B13: after round 5 Barista opens no other, says so once, and still drafts', async () => {
    const room = await panel('ana');
    for (let round = 1; round <= 5; round++) {
      await room.submit('ana', 'approve');
      await room.closes(round);
      await room.push(`b${round}`);
      await room.minutes(3);
    }
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
        "4 barista: round 2 opened at b100000; reviewers: @ana; 0 findings carried",
        "5 @ana submitted a review",
        "5 barista: round 2 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "5 barista: @ana: draft the review of round 2 with draft_review",
        "7 barista: round 3 opened at b200000; reviewers: @ana; 0 findings carried",
        "8 @ana submitted a review",
        "8 barista: round 3 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "8 barista: @ana: draft the review of round 3 with draft_review",
        "10 barista: round 4 opened at b300000; reviewers: @ana; 0 findings carried",
        "11 @ana submitted a review",
        "11 barista: round 4 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "11 barista: @ana: draft the review of round 4 with draft_review",
        "13 barista: round 5 opened at b400000; reviewers: @ana; 0 findings carried",
        "14 @ana submitted a review",
        "14 barista: round 5 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "14 barista: round 5 was the last one Barista opens; for another, ask the lead to call open_review_round",
        "14 barista: @ana: draft the review of round 5 with draft_review",
        "17 @ana drafted the review of round 5: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B26: off, the clocks stand still; on, idle time and the cap count from then', async () => {
    const room = await panel('ana', 'bo');
    await room.submit('ana', 'approve');
    await room.minutes(20);
    await room.send({ type: 'setBarista', by: 'us_olga', enabled: false });
    await room.minutes(60);
    await room.send({ type: 'setBarista', by: 'us_olga', enabled: true });
    await room.minutes(31);
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "2 @ana submitted a review",
        "12 barista: @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot",
        "22 Barista is off; the lead opens and closes the rounds",
        "82 barista: Barista runs this room from now on",
        "112 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @bo
      @ana: approve — summary of ana",
        "112 barista: @ana: draft the review of round 1 with draft_review",
        "113 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('P5: merged in mid-round, the clocks stop; reopened, they start again', async () => {
    const room = await panel('ana', 'bo');
    await room.submit('ana', 'approve');
    await room.minutes(5);
    await room.push('a1', { state: 'merged' });
    await room.minutes(200);
    await room.push('a1', { state: 'open' });
    await room.minutes(31);
    await room.draft('ana');
    expect(room.said()).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "0 @ana joined",
        "0 @ana is lead + reviewer",
        "0 @bo joined",
        "0 @bo is reviewer",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "2 @ana submitted a review",
        "7 barista: the pull request was merged; the clocks stop",
        "207 barista: the pull request was reopened; the clocks run again",
        "217 barista: @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot",
        "237 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @bo
      @ana: approve — summary of ana",
        "237 barista: @ana: draft the review of round 1 with draft_review",
        "238 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });
});
