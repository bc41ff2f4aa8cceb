// npm test: installs what the tests need, runs the checks, all tests and the examples, and prints the totals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { installDebianPackages } from './debian-packages.ts';
import { installPeers } from './peers.ts';
import { bin, concurrentStep, ROOT } from './step.ts';

const { PRIORITY_NORMAL, PRIORITY_BELOW_NORMAL } = constants.priority;

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

/** Counts the rows that a command printed as JSON; each is a test unless its `pass` is null. */
function countRows(title: string, { stdout }: Output): void {
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

/** Prints the output of a command that counts as one test. */
function countWhole({ code, all }: Output): void {
  process.stdout.write(all);
  counted(code === 0);
}

/** What a command printed: to stdout, and to stdout and stderr in order. */
type Output = { code: number | null; stdout: string; all: string };

/** Runs a script to its end. */
async function output(args: readonly string[], priority: number = PRIORITY_NORMAL): Promise<Output> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) setPriority(child.pid, priority);
  const all: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => all.push(chunk));
  const [stdout, [code]] = await Promise.all([readText(child.stdout), once(child, 'close')]);
  return { code: code as number | null, stdout, all: Buffer.concat(all).toString() };
}

/** Runs the tests of Vitest, and shows their output while they run. */
async function runTests(): Promise<void> {
  console.error('\n── tests');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(bin('vitest'), ['run', ...reporters], { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, success } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    totals.passed += numPassedTests;
    totals.failed += numFailedTests + numPendingTests + numTodoTests;
    if ((code !== 0 || !success) && numFailedTests === 0) totals.failed++;
    if (numPassedTests === 0) totals.failed++;
  } catch (cause) {
    console.error(`cannot read the report of the tests: ${cause}`);
    totals.failed++;
  }
}

/** Runs a script that has no short time limits beside others that have, which leave a part of the processors idle. */
function runBeside(script: string, ...args: string[]): Promise<Output> {
  return output([`${ROOT}${script}`, ...args], PRIORITY_BELOW_NORMAL);
}

async function checkAndConformance(): Promise<Record<'check' | 'clients' | 'servers', Output>> {
  return {
    check: await runBeside('scripts/check.ts'),
    clients: await runBeside('conformance/run.ts', '--json', '--only', 'all'),
    servers: await runBeside('conformance/run.ts', '--json', '--server'),
  };
}

// The build needs neither Debian packages nor peers.
const building = concurrentStep('build', process.execPath, [`${ROOT}scripts/build.ts`]);
const unrun = installDebianPackages();
counted(installPeers());
// A build that failed is reported by the check.
await building;
const [{ check, clients, servers }] = await Promise.all([checkAndConformance(), runTests()]);
countWhole(check);
countRows('conformance', clients);
countRows('conformance of servers', servers);
const [examples, chaos] = await Promise.all([
  runBeside('scripts/examples.ts'),
  output([`${ROOT}chaos/run.ts`, '--json', '--quick', '--ours']),
]);
countWhole(examples);
countRows('chaos', chaos);
rmSync(scratch, { recursive: true, force: true });

if (unrun.length > 0)
  console.log(`\nskipped, because Debian packages are missing: tests of ${unrun.join(', ')}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
