// npm run check: formatting and lint, types, dead code, packaging. Every step runs, so that one run reports all problems.
import { installPeers } from './peers.ts';
import { bin, ROOT, step } from './step.ts';

// Tests, examples and benchmarks import types of the peers.
if (!installPeers()) process.exit(1);

const outcomes = [
  step('format and lint', bin('biome'), ['check', '--error-on-warnings', '.']),
  step('types', bin('tsc'), []),
  step('dead code', bin('knip'), []),
  step('build', process.execPath, [`${ROOT}scripts/build.ts`]),
  step('packaging', bin('publint'), ['--strict']),
  step('types of the package', bin('attw'), [
    '--quiet',
    '--ignore-rules',
    'cjs-resolves-to-esm',
    '--pack',
    '.',
  ]),
];
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
