import { defineConfig } from 'vitest/config';

/** Folders whose tests change nothing outside themselves: one process runs many of their files, and loads modules once. */
const SHARED = ['base', 'protocol', 'control', 'tool-server', 'sdk', 'pool', 'permissions', 'hooks'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    globalSetup: [
      'test/support/setup/install-peers.ts',
      'test/support/setup/build-package.ts',
      'test/support/setup/own-home.ts',
    ],
    maxWorkers: 2,
    reporters: ['default'],
    projects: [
      { test: { ...TIMEOUTS, name: 'shared', include: SHARED, isolate: false } },
      { test: { ...TIMEOUTS, name: 'isolated', include: ['test/**/*.test.ts'], exclude: SHARED } },
    ],
  },
});
