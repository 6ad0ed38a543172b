// What time alone brings has no command to tell of it: the room itself notes it, once, for its owner to be told (B29).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SkippedTime, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

describe('B29: no review', () => {
  test('the owner is told at B6, with no note; at B7 the note comes, and no second alert', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(31);
    expect(room.told()).toEqual([]);
    await room.minutes(5);
    expect(room.told()).toEqual(['32 no_review']);
    expect(room.said(/no review/)).toEqual([]);
    await room.minutes(24 * 60);
    expect(room.told()).toEqual(['32 no_review']);
    expect(room.said(/no review/)).toHaveLength(1);
  });

  test('not while somebody works: then at B7', async () => {
    const room = await time.room();
    await room.join('ana');
    for (let minutes = 0; minutes < 92; minutes += 4) {
      await room.minutes(4);
      await room.call('ana');
    }
    await room.minutes(5);
    expect(room.told()).toEqual(['92 no_review']);
  });

  test('all declined: at once', async () => {
    const room = await time.room();
    await room.join('ana');
    await room.minutes(3);
    await room.send({ type: 'declineReview', by: 'ag_ana', reason: 'busy', until: null });
    await room.minutes(60);
    expect(room.told()).toEqual(['3 no_review']);
  });
});

test('B29, B22: no push in a day, and nobody drafts: the owner is told of each once', async () => {
  const room = await time.room({ recipe: 'build_duel' });
  await room.join('ada');
  await room.join('ben');
  await room.minutes(3);
  await room.submit('ben', 'request_changes', [{}]);
  await room.eventually(/round 1 closed/);
  await room.minutes(3 * 24 * 60);
  expect(room.told()).toEqual([expect.stringMatching(/^144[3-9] fixes_not_pushed$/)]);
  await room.send({ type: 'finalDraft', by: 'us_olga' });
  await room.minutes(4 * 60);
  expect(room.told().slice(1)).toEqual([expect.stringMatching(/ assembled$/)]);
});

test('B29: a forge that is away for days is told once, costs a handful of events, and once it is back the room goes on', async () => {
  const room = await time.room();
  await room.minutes(1);
  room.forgeAway = true;
  await room.minutes(13 * 60);
  expect(room.told().map((line) => line.split(' ')[1])).toEqual(['forge_broken']);
  const before = (await room.handle.fetchHistory()).events!.length;
  await room.minutes(3 * 24 * 60);
  expect(room.told()).toHaveLength(1);
  expect((await room.handle.fetchHistory()).events!.length - before).toBeLessThan(5);
  room.forgeAway = false;
  await room.minutes(13 * 60);
  expect(room.readModel!.head.brokenSince).toBeNull();
  await room.join('ana');
  await room.eventually(/round 1 opened/);
  room.forgeAway = true;
  await room.minutes(13 * 60);
  expect(room.told().filter((line) => line.endsWith('forge_broken'))).toHaveLength(2);
});
