import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { freePort } from '../../stack/ports.js';
import { PATIENCE } from './patience.js';
import { timeSkippingServerPath } from './services.js';

/** A time-skipping server of one's own; end it with `teardown`. */
export async function createTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const executable = { type: 'existing-path', path: await timeSkippingServerPath() } as const;
  const deadline = performance.now() + PATIENCE.timeout;
  for (;;) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({ server: { executable, port: await freePort() } });
    } catch (error) {
      // The SDK gives its start five seconds, and a port may have been taken meanwhile.
      if (performance.now() > deadline) throw error;
    }
  }
}

const SECOND = 1_000;

/**
 * Until no timer of this workflow is about to fire. A step that cancels one just as it fires this server refuses, and
 * then it answers neither the call that the step was for nor any later one; Temporal's own server answers them. `now` is
 * the server's.
 */
export async function apartFromTimers(handle: WorkflowHandle, now: () => Promise<number>): Promise<void> {
  const deadline = performance.now() + PATIENCE.timeout;
  for (let due: number | null; (due = await timerDue(handle)) !== null && due - (await now()) < SECOND;) {
    if (performance.now() > deadline)
      throw new Error(`a timer of ${handle.workflowId} does not fire, due at ${new Date(due).toISOString()}`);
    await delay(PATIENCE.interval);
  }
}

/** When the timer that was started last fires, in epoch milliseconds; null: it has, or was canceled, or there was none. */
async function timerDue(handle: WorkflowHandle): Promise<number | null> {
  const events = (await handle.fetchHistory()).events ?? [];
  const started = events.findLast((event) => event.timerStartedEventAttributes);
  const timer = started?.timerStartedEventAttributes;
  if (!timer) return null;
  const isOver = events.some(
    ({ timerFiredEventAttributes: fired, timerCanceledEventAttributes: canceled }) => (fired ?? canceled)?.timerId === timer.timerId,
  );
  return isOver ? null : tsToMs(started.eventTime) + tsToMs(timer.startToFireTimeout);
}
