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
