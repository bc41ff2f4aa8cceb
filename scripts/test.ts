// npm test: installs what the tests need, runs the checks, all tests and the examples, and prints the totals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { installDebianPackages } from './debian-packages.ts';
import { installPeers } from './peers.ts';
import { bin, ROOT, step } from './step.ts';

const scratch = mkdtempSync(join(tmpdir(), 'toolplane-test-'));
const report = join(scratch, 'vitest.json');
// Many processes load the same sources; see `test/support/setup/own-home.ts`.
process.env.NODE_COMPILE_CACHE ??= join(scratch, 'compiled');
const totals = { passed: 0, failed: 0 };

/** Counts a step as one test. */
function counted(isDone: boolean): void {
  if (isDone) totals.passed++;
  else totals.failed++;
}

/** Runs a command that prints rows as JSON; each row counts as a test unless its `pass` is null. */
async function countRows(title: string, args: readonly string[]): Promise<void> {
  const { stdout } = await output(args);
  console.log(`\n── ${title}`);
  try {
    const rows = JSON.parse(stdout) as { name: string; pass: boolean | null; note: string }[];
    const failed = rows.filter(({ pass }) => pass === false);
    for (const { name, note } of failed) console.error(`✗ ${name}: ${note}`);
    const passed = rows.filter(({ pass }) => pass === true).length;
    console.log(
      `${passed} passed, ${failed.length} failed, ${rows.length - passed - failed.length} not counted`,
    );
    totals.passed += passed;
    totals.failed += passed === 0 ? failed.length + 1 : failed.length;
  } catch (cause) {
    console.error(`✗ ${title} printed no rows: ${cause}`);
    totals.failed++;
  }
}

/** Runs a command that counts as one test; its output is printed when it has ended. */
async function countWhole(args: readonly string[]): Promise<void> {
  const { code, stdout } = await output(args);
  process.stdout.write(stdout);
  counted(code === 0);
}

async function output(args: readonly string[]): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] });
  const [stdout, [code]] = await Promise.all([readText(child.stdout), once(child, 'close')]);
  return { code: code as number | null, stdout };
}

const unrun = installDebianPackages();
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
  console.error(`cannot read the report of the tests: ${cause}`);
  totals.failed++;
}
// These commands mostly wait, so they run concurrently.
await Promise.all([
  countRows('chaos', [`${ROOT}chaos/run.ts`, '--json', '--quick', '--ours']),
  countRows('conformance', [`${ROOT}conformance/run.ts`, '--json']).then(() =>
    countWhole([`${ROOT}scripts/examples.ts`]),
  ),
]);
rmSync(scratch, { recursive: true, force: true });

if (unrun.length > 0)
  console.log(`\nskipped, because Debian packages are missing: tests of ${unrun.join(', ')}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
