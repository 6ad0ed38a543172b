import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE, type SkippedTime, skipTime } from '../support/skipped-time.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

test('B27: the database is away for longer than every clock: whoever was asked gets its time from when the ask was posted', async () => {
  const room = await time.room();
  await room.join('ana');
  await room.join('bo');
  await room.minutes(2);
  await room.eventually(/round 1 opened/);
  await room.submit('ana');
  room.databaseAway = true;
  await room.submit('bo');
  await time.env.sleep(60 * MINUTE);
  expect((await room.state()).round?.drafting).toMatchObject({ handOffs: 0, asks: [{ remindedAt: null, endedAt: null }] });
  room.databaseAway = false;
  await room.minutes(1);
  await room.settled();
  const posted = (await room.state()).round!.drafting.asks[0]!.postedAt!;
  const late = Math.floor((posted - room.openedAt) / MINUTE);
  expect(late).toBeGreaterThanOrEqual(62);
  await room.minutes(32);
  const ages = room.said(/still to be written|@bo: draft the review/).map((note) => Math.floor(Number.parseFloat(note)));
  expect(ages).toEqual([late + 10, late + 30]);
});
