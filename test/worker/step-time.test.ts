import { compileWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import { expect, test } from 'vitest';
import { STEP_TIME } from '../../worker/step-time.js';
import { silent } from '../support/silent.js';

test('a step of a workflow may take a minute, in the SDK that is installed', () => {
  const meter = undefined as never; // only handed on
  const limitOf = (more: object) => compileWorkerOptions({ taskQueue: 'q', ...more }, silent, meter).isolateExecutionTimeoutMs;
  expect([limitOf({}), limitOf(STEP_TIME)]).toEqual([5_000, 60_000]);
});
