import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Check, Outcome } from './judge.ts';
import { AUTHORIZATION } from './sets.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SUITE = join(HERE, '../interop/node_modules/@modelcontextprotocol/conformance/dist/index.js');
/** Time limit of one scenario, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Runs one set of client scenarios in parallel and reads the results that the suite writes. */
export async function runSet(flags: readonly string[]): Promise<Outcome[]> {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-conformance-'));
  try {
    const out = join(home, 'results');
    const args = ['client', '--command', clientCommand(), ...flags, '--timeout', `${TIMEOUT_MS}`, '-o', out];
    const child = spawn(process.execPath, [SUITE, ...args], {
      cwd: home,
      env: {
        PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
        HOME: home,
        TMPDIR: home,
        // One process per scenario loads the same sources.
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(home, 'compiled'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const gone = once(child, 'exit');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), gone]);
    const scenarios = readSummary(stdout);
    if (!scenarios) throw new Error(`the suite printed no summary\n${stdout}${stderr.slice(-2000)}`);
    return scenarios.map((scenario) => readOutcome(out, scenario));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The scenarios that the suite ran; undefined unless their number matches the announced one. */
export function readSummary(stdout: string): string[] | undefined {
  const announced = Number(/\((\d+) scenarios\) in parallel/.exec(stdout)?.[1]);
  const [, summary = ''] = stdout.split('=== SUITE SUMMARY ===');
  const scenarios = [...summary.matchAll(/^[✓✗-] (\S+): /gm)].map(([, name]) => name as string);
  return scenarios.length === announced ? scenarios : undefined;
}

/** Each scenario has a directory named after it and the time. */
function readOutcome(out: string, scenario: string): Outcome {
  const [directory] = globSync(`${scenario}-[0-9][0-9][0-9][0-9]-*T*Z`, { cwd: out });
  const read = (file: string): string | undefined => {
    try {
      return readFileSync(join(out, directory ?? 'none', file), 'utf8');
    } catch {
      return undefined;
    }
  };
  const checks = read('checks.json');
  return {
    scenario,
    checks: checks === undefined ? undefined : (JSON.parse(checks) as Check[]),
    stdout: read('stdout.txt') ?? '',
    stderr: read('stderr.txt') ?? '',
  };
}

/** The suite runs this in a shell, with the URL appended. Scenarios that are not scored exit without starting Node.js. */
function clientCommand(): string {
  const client = [process.execPath, '--conditions=toolplane-source', join(HERE, 'client.ts')];
  return `case $MCP_CONFORMANCE_SCENARIO in ${AUTHORIZATION}*) exit;; esac; ${client.map(quote).join(' ')}`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
