import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that change the environment of their process, or measure its memory: each file has a process of its own. */
const ISOLATED = [
  'test/entry/**/*.test.ts',
  'test/repository/**/*.test.ts',
  'test/config/files/parse-jsonc.test.ts',
  'test/mcp/transports/stdio/message-lines.test.ts',
];

/** Files that take longest for their size. They run first: at the end, the other workers would have nothing left to do. */
const LONGEST = [
  'test/permissions/commands/bash-fuzz.test.ts',
  'test/repository/interop/programs.test.ts',
  'test/repository/interop/wire.test.ts',
  'test/sdk/conversation/slow-reader.test.ts',
];

/** The order of Vitest, by earlier durations or else by size, except for `LONGEST`. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => LONGEST.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

const COMMON = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  setupFiles: ['test/support/setup/property-seed.ts'],
};

export default defineConfig({
  test: {
    globalSetup: [
      'test/support/setup/install-peers.ts',
      'test/support/setup/build-package.ts',
      'test/support/setup/own-home.ts',
    ],
    // Two more than the cores of the smallest machine: many tests wait for processes, sockets and timers.
    maxWorkers: 4,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...COMMON, name: 'isolated', include: ISOLATED } },
      // One process runs many files and loads each module once.
      {
        test: {
          ...COMMON,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ISOLATED,
          isolate: false,
        },
      },
    ],
  },
});
