import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { standings } from '../../workflows/room/findings.js';
import { type SkippedTime, type TimedRoom, skipTime } from '../support/skipped-time.js';

/** Whole lives of a room with nobody watching, each from joining to its end, with every note and its time. */
let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

/** A panel of agents with round 1 open at minute 2. */
const panel = async (...names: string[]): Promise<TimedRoom> => (await time.room()).opens(...names);

/** @ada builds, @ben reviews and leads; round 1 open at minute 2. */
const duel = async (): Promise<TimedRoom> => (await time.room({ recipe: 'build_duel' })).opens('ada', 'ben');

async function closed(room: TimedRoom, number = 1): Promise<void> {
  await room.eventually(new RegExp(`round ${number} closed`));
  await room.settled();
}

describe('a room with Barista goes to its draft with nobody present', () => {
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
    expect(room.said(/barista|drafted/)).toMatchInlineSnapshot(`
      [
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
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
    await closed(room);
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
    expect(room.said(/barista|finding/)).toMatchInlineSnapshot(`
      [
        "2 barista: round 1 opened at a100000; reviewers: @ben",
        "2 barista: head moved to a200000 (1 new commit). Barista closes this round on its own rules; the next round opens at the new head after that.",
        "2 barista: round 1 closed: every reviewer has submitted; the head has moved to a200000; the reviews are of a100000
      @ben: request_changes — summary of ben",
        "2 @ada accepted finding f1 (a.ts:1)",
        "7 barista: round 2 opened at a500000; reviewers: @ben; 1 finding carried",
        "8 @ben marked finding f1 fixed at a500000",
        "8 barista: round 2 closed: every reviewer has submitted
      @ben: approve — summary of ben",
        "8 barista: @ben: draft the review of round 2 with draft_review",
      ]
    `);
  });

  test('B14: upheld at minute 29 of 30 it waits for a push; untouched it is drafted at 30', async () => {
    const upheld = await duel();
    await upheld.submit('ben', 'request_changes', [{}]);
    await closed(upheld);
    await upheld.answer('ada', 'f1', 'reject');
    await upheld.minutes(29);
    await upheld.resolve('ben', 'f1', 'upheld');
    await upheld.minutes(60);
    expect(upheld.said(/draft the review/)).toEqual([]);
    expect((await upheld.state()).findings[0]!.answers.map((answer) => answer.kind)).toEqual(['reject', 'upheld']);

    const untouched = await duel();
    await untouched.submit('ben', 'request_changes', [{}]);
    await closed(untouched);
    await untouched.answer('ada', 'f1', 'reject');
    await untouched.minutes(31);
    expect(untouched.said(/draft the review/)).toMatchInlineSnapshot(`
      [
        "32 barista: @ben: draft the review of round 1 with draft_review",
      ]
    `);
  });

  test('B14, B18: upheld at minute 31, after the ask, it does not take the ask back; the standing shows it', async () => {
    const room = await duel();
    await room.submit('ben', 'request_changes', [{}]);
    await closed(room);
    await room.answer('ada', 'f1', 'reject');
    await room.minutes(31);
    await room.resolve('ben', 'f1', 'upheld');
    await room.minutes(5);
    expect(room.said(/draft the review/)).toHaveLength(1);
    await room.draft('ben');
    expect(standings(await room.state())).toEqual([{ finding: 'f1', standing: 'needs_fix' }]);
  });

  test('B15: a dispute waits for the owner alone, and the final draft ends it', async () => {
    const room = await duel();
    await room.submit('ben', 'request_changes', [{}]);
    await closed(room);
    await room.answer('ada', 'f1', 'reject');
    await room.resolve('ben', 'f1', 'upheld');
    await room.answer('ada', 'f1', 'reject');
    await room.minutes(3 * 24 * 60);
    expect(room.said(/draft|fixes/)).toEqual([]);
    await room.send({ type: 'finalDraft', by: 'us_olga' });
    await room.eventually(/draft the review/);
    expect(room.said(/draft/)).toMatchInlineSnapshot(`
      [
        "4322 @olga asked for the final draft of round 1 as it is",
        "4322 barista: @ben: draft the review of round 1 with draft_review, as the round is",
      ]
    `);
  });

  test('B19, B20: the lead is gone, the draft is handed on twice and assembled', async () => {
    const room = await panel('ana', 'bo', 'cy');
    for (const name of ['ana', 'bo', 'cy']) await room.submit(name, 'approve');
    await room.eventually(/draft the review/);
    await room.minutes(100);
    expect(room.said(/draft|is .*(lead|reviewer)/)).toMatchInlineSnapshot(`
      [
        "0 @ana is lead + reviewer",
        "0 @bo is reviewer",
        "0 @cy is reviewer",
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
    expect(room.said(/draft/)).toMatchInlineSnapshot(`
      [
        "2 barista: @pia: draft the review of round 1 with draft_review",
        "12 barista: @pia: the draft of round 1 is still to be written",
      ]
    `);
  });

  test('B22, B23: fixes never pushed, then the final draft', async () => {
    const room = await duel();
    await room.submit('ben', 'request_changes', [{}]);
    await closed(room);
    await room.answer('ada', 'f1', 'accept');
    await room.minutes(24 * 60 + 1);
    await room.send({ type: 'finalDraft', by: 'us_olga' });
    await room.eventually(/draft the review/);
    await room.draft('ben');
    expect(room.said(/fixes|draft/)).toMatchInlineSnapshot(`
      [
        "1442 barista: no fixes were pushed within 1 day of the close; @olga can have the final draft now",
        "1443 @olga asked for the final draft of round 1 as it is",
        "1443 barista: @ben: draft the review of round 1 with draft_review, as the round is",
        "1443 @ben drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
      ]
    `);
  });

  test('B24: a push after the draft makes it stale and opens the next round', async () => {
    const room = await panel('ana');
    await room.submit('ana', 'approve');
    await room.eventually(/draft the review/);
    await room.draft('ana');
    await room.push('a2');
    await room.minutes(3);
    expect(room.said(/draft|round/)).toMatchInlineSnapshot(`
      [
        "2 barista: round 1 opened at a100000; reviewers: @ana",
        "2 barista: round 1 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "2 barista: @ana: draft the review of round 1 with draft_review",
        "2 @ana drafted the review of round 1: comment, 0 findings; @olga edits and posts it",
        "4 barista: round 2 opened at a200000; reviewers: @ana; 0 findings carried",
      ]
    `);
  });

  test('B13: after round 5 Barista opens no other, says so once, and still drafts', async () => {
    const room = await panel('ana');
    for (let round = 1; round <= 5; round++) {
      await room.submit('ana', 'approve');
      await closed(room, round);
      await room.push(`b${round}`);
      await room.minutes(3);
    }
    expect(room.said(/round [56]|draft the review/)).toMatchInlineSnapshot(`
      [
        "2 barista: @ana: draft the review of round 1 with draft_review",
        "5 barista: @ana: draft the review of round 2 with draft_review",
        "8 barista: @ana: draft the review of round 3 with draft_review",
        "11 barista: @ana: draft the review of round 4 with draft_review",
        "13 barista: round 5 opened at b400000; reviewers: @ana; 0 findings carried",
        "14 barista: round 5 closed: every reviewer has submitted
      @ana: approve — summary of ana",
        "14 barista: round 5 was the last one Barista opens; for another, ask the lead to call open_review_round",
        "14 barista: @ana: draft the review of round 5 with draft_review",
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
    expect(room.said(/barista|Barista/)).toMatchInlineSnapshot(`
      [
        "0 room opened for local:/repo?base=main&head=topic (panel, Barista runs it)",
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "12 barista: @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot",
        "22 Barista is off; the lead opens and closes the rounds",
        "82 barista: Barista runs this room from now on",
        "112 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @bo
      @ana: approve — summary of ana",
        "112 barista: @ana: draft the review of round 1 with draft_review",
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
    expect(room.said(/barista/)).toMatchInlineSnapshot(`
      [
        "2 barista: round 1 opened at a100000; reviewers: @ana and @bo",
        "7 barista: the pull request was merged; the clocks stop",
        "207 barista: the pull request was reopened; the clocks run again",
        "217 barista: @bo: round 1 waits for your review; submit it, or say with decline_review that you cannot",
        "237 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @bo
      @ana: approve — summary of ana",
        "237 barista: @ana: draft the review of round 1 with draft_review",
      ]
    `);
  });

  test('P5: a force-push is a push', async () => {
    const room = await panel('ana');
    await room.push('ff', { move: { commits: null, rewritten: true } });
    await room.submit('ana', 'approve');
    await room.minutes(3);
    expect(room.said(/head moved|round/)).toMatchInlineSnapshot(`
      [
        "2 barista: round 1 opened at a100000; reviewers: @ana",
        "2 barista: head moved to ff00000 (history rewritten). Barista closes this round on its own rules; the next round opens at the new head after that.",
        "2 barista: round 1 closed: every reviewer has submitted; the head has moved to ff00000; the reviews are of a100000
      @ana: approve — summary of ana",
        "4 barista: round 2 opened at ff00000; reviewers: @ana; 0 findings carried",
      ]
    `);
  });

  test('the Temporal UI says why the room waits, for whom, and until when', async () => {
    const room = await panel('ana', 'bo');
    await room.submit('ana');
    const { typedSearchAttributes } = await room.handle.describe();
    const attributes = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
    expect(attributes).toMatchObject({ BaristaPhase: 'reviewing', BaristaRound: 1, BaristaWaitingOn: ['@bo'] });
    expect(await room.clocks()).toMatchObject([{ name: 'remind_after' }, { name: 'idle_close' }, { name: 'round_cap' }]);
    expect(await room.details()).toMatchInlineSnapshot(`
      "**reviewing** · local:/repo?base=main&head=topic
      - waiting for @bo to submit
      - waits on @bo
      - round 1, open, at \`a100000\`
      - minute 11: remind @bo (\`remind_after\`)
      - minute 31: close on idle (\`idle_close\`)
      - minute 91: close at the cap (\`round_cap\`)"
    `);
  });
});
