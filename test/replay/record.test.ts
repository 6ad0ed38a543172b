import { writeFileSync } from 'node:fs';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, test } from 'vitest';
import { type SkippedTime, skipTime } from '../support/skipped-time.js';
import { SHAPES } from './shapes.js';

/** Lives every shape; with RECORD_HISTORIES=1 it also keeps their histories for `replay.test.ts`. */
const keep = process.env.RECORD_HISTORIES === '1';

let time: SkippedTime;
beforeAll(async () => {
  time = await skipTime();
}, 120_000);
afterAll(() => time.stop());

test.each(Object.entries(SHAPES))(
  'a room lives: %s',
  async (name, live) => {
    const room = await live(time);
    const history = await room.handle.fetchHistory();
    if (keep)
      writeFileSync(
        new URL(`./histories/${name.replaceAll(/[^a-z]+/gi, '-')}.json`, import.meta.url),
        `${JSON.stringify(JSON.parse(historyToJSON(history)))}\n`,
      );
  },
  60_000,
);
