import { TestWorkflowEnvironment } from '@temporalio/testing';
import { freePort } from '../../stack/ports.js';
import { timeSkippingServerPath } from './services.js';

/** A time-skipping server of one's own; end it with `teardown`. */
export async function createTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const executable = { type: 'existing-path', path: await timeSkippingServerPath() } as const;
  return TestWorkflowEnvironment.createTimeSkipping({ server: { executable, port: await freePort() } });
}
