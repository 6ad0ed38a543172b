import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SkippedTime, commit, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

const A1 = commit('a1').slice(0, 7);

describe('Barista opens and closes', () => {
  test('B2, B3: the quiet panel goes from joining to a closed round with nobody asked twice', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.submit('ana');
    await room.submit('bo', 'approve');
    await room.eventually(/round 1 closed/);
    expect(room.said(/^barista: round/)).toEqual([
      `2 barista: round 1 opened at ${A1}; reviewers: @ana and @bo`,
      expect.stringMatching(
        /^3 barista: round 1 closed: every reviewer has submitted\n@ana: comment — summary of ana\n@bo: approve — summary of bo$/,
      ),
    ]);
  });

  test('B2: a push before round 1 starts the quiet time anew', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(1);
    await room.push('a2');
    await room.minutes(1.5);
    expect(room.said(/opened at/)).toEqual([]);
    await room.minutes(1);
    expect(room.said(/opened at/)).toEqual([`3 barista: round 1 opened at ${commit('a2').slice(0, 7)}; reviewers: @ana`]);
  });

  test('B6, B9: the idle reviewer is reminded at 10 minutes and not waited for after 30', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.submit('ana');
    await room.minutes(40);
    expect(room.said(/@bo: round 1 waits|round 1 closed/)).toEqual([
      expect.stringMatching(/^12 barista: @bo: round 1 waits/),
      expect.stringMatching(/^32 barista: round 1 closed: whoever is missing was idle for 30 minutes; without @bo/),
    ]);
  });

  test('B4, B5: one call and silence closes at 35 minutes; idle time adds up over the round', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(2);
    await room.submit('ana');
    await room.call('bo');
    await room.minutes(40);
    expect(room.said(/round 1 closed/)).toEqual([expect.stringMatching(/^37 /)]);
  });

  test('B7: the cap closes while a reviewer works', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(2);
    await room.submit('ana');
    for (let call = 0; call < 24; call++) {
      await room.call('bo');
      await room.minutes(4);
    }
    expect(room.said(/round 1 closed|@bo: round 1 waits/)).toEqual([
      expect.stringMatching(/^92 barista: round 1 closed: 1 hour, 30 minutes are over; without @bo/),
    ]);
  });

  test('B8: no review at all for a day, then one closes the round', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(26 * 60);
    expect(room.said(/no review|round 1 closed/)).toEqual([
      expect.stringMatching(/^92 barista: round 1 has no review and stays open until one comes; @olga/),
    ]);
    await room.submit('bo');
    await room.eventually(/round 1 closed/);
  });

  test('N2: the forge is away at the close: it closes anyway and says so', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(2);
    room.forgeAway = true;
    await room.submit('ana');
    await room.minutes(1);
    expect(room.said(/round 1 closed/)).toEqual([expect.stringMatching(/the head could not be checked/)]);
  });

  test('B2, P4: the forge is away at the opening: it is asked again until it answers', async () => {
    const room = await time.room();
    await room.join('ana');
    room.forgeAway = true;
    await room.minutes(10);
    expect(room.said(/opened at/)).toEqual([]);
    room.forgeAway = false;
    await room.minutes(1);
    expect(room.said(/opened at/)).toHaveLength(1);
  });

  test('P1, P2: each new head is told once, however many deliveries tell of it', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.push('a2', { move: { commits: 3, rewritten: false } });
    await room.push('a2', { move: { commits: 3, rewritten: false } });
    await room.settled();
    await room.push('a1');
    await room.push('a2', { move: { commits: null, rewritten: true } });
    await room.settled();
    expect(room.said(/head moved/)).toEqual([
      `3 barista: head moved to ${commit('a2').slice(0, 7)} (3 new commits). Barista closes this round on its own rules; the next round opens at the new head after that.`,
      `3 barista: head moved to ${commit('a2').slice(0, 7)} (history rewritten). Barista closes this round on its own rules; the next round opens at the new head after that.`,
    ]);
  });

  test('P4: a delivery that never came is made up for by the watch', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.join('bo');
    await room.minutes(3);
    await room.call('bo');
    room.head = { ...room.head, sha: commit('a2'), move: { commits: 1, rewritten: false } };
    await room.minutes(12 * 60 + 1);
    expect(room.said(/head moved/)).toHaveLength(1);
  });

  test('B1, N1: a lead may still open, close and go on by hand, without Barista too', async () => {
    const room = await time.room({ barista: false });
    await room.join('ana');
    await room.join('bo');
    await room.minutes(200);
    expect(room.said(/round/)).toEqual([]);
    const head = { sha: commit('a1'), baseSha: commit('ba'), state: 'open', knownSeq: 1, move: null } as const;
    await room.send({ type: 'openRound', by: 'ag_ana', head });
    expect(await room.refused({ type: 'openRound', by: 'ag_ana', head, requestId: 'again' })).toMatchObject({ code: 'round_open' });
    await room.submit('ana');
    await room.submit('bo');
    await room.send({ type: 'closeRound', by: 'ag_ana', head });
    expect(room.said(/round/)).toEqual([expect.stringMatching(/^200 round 1 opened/), expect.stringMatching(/^200 round 1 closed/)]);
  });
});
