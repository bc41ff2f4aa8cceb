import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Example } from './example-list.ts';
import { ROOT } from './step.ts';

export type ExampleRun = { isDone: boolean; stdout: string; stderr: string; ms: number };

export type ExampleSetting = {
  /** `sources` needs no build; `build` runs the installed package. */
  readonly on: 'sources' | 'build';
  /** Environment variables to set, or to remove if undefined. */
  readonly env?: Record<string, string | undefined>;
};

/** Enough for the slowest example on a busy machine. */
const LIMIT_MS = 60_000;

/** Runs one example in its own process with a temporary home directory. */
export async function runExample({ name }: Example, { on, env = {} }: ExampleSetting): Promise<ExampleRun> {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-home-'));
  const started = performance.now();
  const condition = on === 'sources' ? ['--conditions=toolplane-source'] : [];
  const child = spawn(process.execPath, [...condition, `examples/${name}.ts`], {
    cwd: ROOT,
    env: { ...process.env, ...PLAIN, TOOLPLANE_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: Number(env.TOOLPLANE_LIVE ? 5 * LIMIT_MS : LIMIT_MS),
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  rmSync(home, { recursive: true, force: true });
  return { isDone: code === 0, stdout, stderr, ms: Math.round(performance.now() - started) };
}

/** The recorded output of the example, which pages include unchanged. */
export function knownOutput(name: string): string | undefined {
  const path = outputPath(name);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

export function outputPath(name: string): string {
  return `${ROOT}examples/output/${name}.txt`;
}

/** The output does not depend on the caller's terminal or debug settings. */
const PLAIN = {
  NO_COLOR: '1',
  FORCE_COLOR: undefined,
  NODE_V8_COVERAGE: undefined,
  TOOLPLANE_DEBUG: undefined,
  TOOLPLANE_LIVE: undefined,
};
