import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: [
      'test/support/install-peers.ts',
      'test/support/build-package.ts',
      'test/support/own-home.ts',
    ],
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ['default'],
  },
});
