// npm test: everything. Installs what it needs, checks, tests, runs the examples, ends with the totals.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPeers } from './peers.ts';
import { bin, ROOT, step } from './step.ts';

const scratch = mkdtempSync(join(tmpdir(), 'toolplane-test-'));
const report = join(scratch, 'vitest.json');
const totals = { passed: 0, failed: 0 };

/** A step that counts as one test of its own. */
function counted(isDone: boolean): void {
  if (isDone) totals.passed++;
  else totals.failed++;
}

counted(installPeers());
counted(step('check', process.execPath, [`${ROOT}scripts/check.ts`]));
const isTested = step('tests', bin('vitest'), [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
]);
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, success } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  totals.passed += numPassedTests;
  totals.failed += numFailedTests + numPendingTests + numTodoTests;
  if ((!isTested || !success) && numFailedTests === 0) totals.failed++;
  if (numPassedTests === 0) totals.failed++;
} catch (cause) {
  console.error(`The tests left no report: ${cause}`);
  totals.failed++;
}
counted(step('examples', process.execPath, [`${ROOT}scripts/examples.ts`]));
rmSync(scratch, { recursive: true, force: true });

console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
