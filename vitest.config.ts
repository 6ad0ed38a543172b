import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    env: { TZ: 'UTC' },
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
