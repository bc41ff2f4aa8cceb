import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, globSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Check, Outcome } from './judge.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SUITE = join(HERE, '../interop/node_modules/@modelcontextprotocol/conformance/dist/index.js');
/** Time limit of one scenario, in milliseconds; the suite starts all of them at once, and most wait for a slot first. */
const TIMEOUT_MS = 300_000;
/** How many clients run at a time: more would exceed their connect timeout on a small machine. */
const CONCURRENCY = 3;

/** Runs one set of client scenarios in parallel and reads the results that the suite writes. */
export async function runSet(flags: readonly string[]): Promise<Outcome[]> {
  return inHome(async (home) => {
    using slots = openSlots(join(home, 'slots'));
    const outcomes = await runSuite(home, ['client', '--command', clientCommand(slots.path), ...flags]);
    return outcomes.map(({ directory, ...outcome }) => {
      const stdout = readResult(directory, 'stdout.txt') ?? '';
      return { ...outcome, client: { stdout, stderr: readResult(directory, 'stderr.txt') ?? '' } };
    });
  });
}

/** Runs one set of server scenarios, one after the other, against a tool server in a process of its own. */
export async function runServerSet(flags: readonly string[]): Promise<Outcome[]> {
  return inHome(async (home) => {
    const server = spawn(process.execPath, [join(HERE, 'server.ts')], {
      cwd: home,
      env: environment(home),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const gone = once(server, 'exit');
    try {
      const [url] = await Promise.race([
        once(server.stdout, 'data'),
        gone.then(() => {
          throw new Error('the server did not start');
        }),
      ]);
      const outcomes = await runSuite(home, ['server', '--url', String(url).trim(), ...flags]);
      return outcomes.map(({ directory: _, ...outcome }) => outcome);
    } finally {
      server.stdin.end();
      await gone;
    }
  });
}

async function inHome<T>(run: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-conformance-'));
  try {
    return await run(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The outcome of a scenario, and the directory with its results. */
type Written = Pick<Outcome, 'scenario' | 'checks'> & { directory: string };

async function runSuite(home: string, flags: readonly string[]): Promise<Written[]> {
  const out = join(home, 'results');
  const child = spawn(process.execPath, [SUITE, ...flags, '--timeout', `${TIMEOUT_MS}`, '-o', out], {
    cwd: home,
    env: environment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), gone]);
  const scenarios = readSummary(stdout);
  if (!scenarios) throw new Error(`the suite printed no summary\n${stdout}${stderr.slice(-2000)}`);
  return scenarios.map((scenario) => readOutcome(out, scenario));
}

function environment(home: string): NodeJS.ProcessEnv {
  return {
    PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    TMPDIR: home,
    // One process per scenario loads the same sources.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(home, 'compiled'),
  };
}

/** The scenarios that the suite ran; undefined unless their number matches the announced one. */
export function readSummary(stdout: string): string[] | undefined {
  const announced = Number(/\((\d+) scenarios\) (?:in parallel|against )/.exec(stdout)?.[1]);
  const [, summary = ''] = stdout.split(/=== (?:SUITE )?SUMMARY ===/);
  const scenarios = [...summary.matchAll(/^[✓✗-] (\S+): /gm)].map(([, name]) => name as string);
  return scenarios.length === announced ? scenarios : undefined;
}

/** Each scenario has a directory named after it and the time; those of server scenarios have a prefix. */
function readOutcome(out: string, scenario: string): Written {
  const [found = 'none'] = globSync(`{server-,}${scenario}-[0-9][0-9][0-9][0-9]-*T*Z`, { cwd: out });
  const directory = join(out, found);
  const checks = readResult(directory, 'checks.json');
  return { scenario, directory, checks: checks === undefined ? undefined : (JSON.parse(checks) as Check[]) };
}

function readResult(directory: string, file: string): string | undefined {
  try {
    return readFileSync(join(directory, file), 'utf8');
  } catch {
    return undefined;
  }
}

/** A named pipe with one byte per client that may run at a time: waiting for a byte takes no processor time. */
function openSlots(path: string): Disposable & { readonly path: string } {
  execFileSync('mkfifo', [path]);
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, '\n'.repeat(CONCURRENCY));
  return { path, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** The suite runs this in a shell, with the URL appended. Each client takes a byte from the pipe, and returns it when it has ended. */
function clientCommand(slots: string): string {
  const client = [process.execPath, join(HERE, 'client.ts')];
  return `exec 3<>${quote(slots)}; read -r _ <&3; trap 'echo >&3' EXIT; ${client.map(quote).join(' ')}`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
