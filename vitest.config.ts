import { defineConfig } from 'vitest/config';
import { PATIENCE } from './test/support/patience.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    env: { TZ: 'UTC' },
    pool: 'forks',
    // Most of a test's time is waiting for servers, so that three share a machine of two cores well.
    maxWorkers: 3,
    // Nothing is asserted about time: this is only how long a test that hangs is waited for, on a slow machine too.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: PATIENCE },
  },
});
