// npm run check: formatting and lint, types, dead code, packaging. All steps run, concurrently, so that one run reports all problems.
import { isBuildStale } from './fresh-build.ts';
import { installPeers } from './peers.ts';
import { bin, concurrentStep, ROOT } from './step.ts';

// Tests, examples and benchmarks import types of the peers.
if (!installPeers()) process.exit(1);

const outcomes = await Promise.all([
  concurrentStep('format and lint', bin('biome'), ['check', '--error-on-warnings', '.']),
  concurrentStep('types', bin('tsc'), []),
  concurrentStep('dead code', bin('knip'), []),
  checkPackage(),
]);
process.exitCode = outcomes.every(Boolean) ? 0 : 1;

/** Builds the package if its sources have changed, then checks what was built. */
async function checkPackage(): Promise<boolean> {
  const isBuilt =
    !isBuildStale() || (await concurrentStep('build', process.execPath, [`${ROOT}scripts/build.ts`]));
  const isPackaged = await concurrentStep('packaging', bin('publint'), ['--strict']);
  const attwArgs = ['--quiet', '--ignore-rules', 'cjs-resolves-to-esm', '--pack', '.'];
  const isTyped = await concurrentStep('types of the package', bin('attw'), attwArgs);
  return isBuilt && isPackaged && isTyped;
}
