import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A pipe that shows a test that a command runs, and that all processes started by it have ended. */
export type Lifeline = {
  /** For the shell, before what shall be heard of. */
  readonly hold: string;
  readonly started: Promise<unknown>;
  readonly ended: Promise<unknown>;
};

export function lifeline(): Lifeline {
  const directory = mkdtempSync(join(tmpdir(), 'lifeline-'));
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    reader.kill();
    rmSync(directory, { recursive: true });
  });
  const started = once(reader.stdout, 'data');
  return { hold: `exec 9> ${path}; echo up >&9; `, started, ended: once(reader, 'close') };
}

/** A program of its own, in a module whose paths begin at the sources. */
export function startHost(script: string): ChildProcess {
  const source = new URL('../../src/', import.meta.url).href;
  const text = script.replaceAll("import('#", `import('${source}`);
  const host = spawn(process.execPath, ['--input-type=module', '-e', text], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void host.kill('SIGKILL'));
  return host;
}
