import { afterAll, beforeAll, test } from 'vitest';
import { type SkippedTime, skipTime } from '../support/skipped-time.js';
import { keepHistory } from './keep.js';
import { SHAPES } from './shapes.js';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
});
afterAll(() => time.stop());

test.each(Object.entries(SHAPES))('a room lives: %s', async (name, live) => keepHistory(name, (await live(time)).handle));
