// npm test: everything. Installs what it needs, checks, tests, runs the examples, ends with the totals.
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

/** A step that counts as one test of its own. */
function counted(isDone: boolean): void {
  if (isDone) totals.passed++;
  else totals.failed++;
}

/** A command that judges by itself: each of its rows is a test, except those it does not count. */
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
    console.error(`✗ ${title} gave no rows: ${cause}`);
    totals.failed++;
  }
}

/** A command that counts as one test; what it printed is shown in one piece when it has ended. */
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
  console.error(`The tests left no report: ${cause}`);
  totals.failed++;
}
// Most of what these do is wait, so they run side by side.
await Promise.all([
  countRows('chaos', [`${ROOT}chaos/run.ts`, '--json', '--quick', '--ours']),
  countRows('conformance', [`${ROOT}conformance/run.ts`, '--json']).then(() =>
    countWhole([`${ROOT}scripts/examples.ts`]),
  ),
]);
rmSync(scratch, { recursive: true, force: true });

if (unrun.length > 0) console.log(`\nnot run, for want of Debian packages: tests of ${unrun.join(', ')}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
