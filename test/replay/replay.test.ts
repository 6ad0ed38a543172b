import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
import { silent } from '../support/silent.js';
import { DELIVERY_SHAPES, SHAPES } from './shapes.js';

const folder = new URL('./histories/', import.meta.url);
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const history = (file: string) => historyFromJSON(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));

const bundle = (path: string) => bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL(path, import.meta.url)), logger: silent });

type Bundle = Awaited<ReturnType<typeof bundle>>;
let current: Bundle;
let reordered: Bundle;
let patched: Bundle;
beforeAll(async () => {
  Runtime.install({ logger: silent });
  current = await bundle('../../workflows/index.ts');
  reordered = await bundle('./reordered-room.ts');
  patched = await bundle('./patched-room.ts');
});

const replay = (workflowBundle: Bundle, file: string) => Worker.runReplayHistory({ workflowBundle }, history(file), 'room/replayed');

describe('W12: rooms in flight survive a deploy', () => {
  test('every shape has a history', () => {
    expect(files).toHaveLength(Object.keys({ ...SHAPES, ...DELIVERY_SHAPES }).length);
  });

  test.each(files)('%s replays', async (file) => {
    await replay(current, file);
  });

  test('a change of the order of steps is caught', async () => {
    await expect(replay(reordered, files[0]!)).rejects.toThrow(DeterminismViolationError);
  });

  test('the same change behind a patch passes', async () => {
    await replay(patched, files[0]!);
  });
});
