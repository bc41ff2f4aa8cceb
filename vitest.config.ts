import { defineConfig } from 'vitest/config';

/** Tests that change the environment of their process, or measure its memory: each file has a process of its own. */
const ISOLATED = [
  'test/entry/**/*.test.ts',
  'test/repository/**/*.test.ts',
  'test/config/files/parse-jsonc.test.ts',
  'test/mcp/transports/stdio/message-lines.test.ts',
];

const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    globalSetup: [
      'test/support/setup/install-peers.ts',
      'test/support/setup/build-package.ts',
      'test/support/setup/own-home.ts',
    ],
    // One more than the cores of the smallest machine: many tests wait for processes, sockets and timers.
    maxWorkers: 3,
    reporters: ['default'],
    projects: [
      { test: { ...TIMEOUTS, name: 'isolated', include: ISOLATED } },
      // One process runs many files and loads each module once.
      {
        test: {
          ...TIMEOUTS,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ISOLATED,
          isolate: false,
        },
      },
    ],
  },
});
