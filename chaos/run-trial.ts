import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContenderName } from './contenders/table.ts';
import { Events } from './events.ts';
import type { TrialMessage, Verdict } from './verdict.ts';

const TRIAL = fileURLToPath(new URL('trial.ts', import.meta.url));

export type Trial = { fault: string; contender: ContenderName; isQuick: boolean; limitMs: number };

/** Runs one fault with one client in a separate process, and ends remaining processes. */
export async function runTrial({ fault, contender, isQuick, limitMs }: Trial): Promise<Verdict> {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-chaos-'));
  const child = fork(TRIAL, [fault, contender, directory, ...(isQuick ? ['--quick'] : [])], {
    cwd: directory,
    env: environment(directory),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let lastWords = '';
  child.stderr?.on('data', (chunk) => {
    lastWords = `${lastWords}${chunk}`.slice(-300);
  });
  const { promise, resolve } = Promise.withResolvers<Verdict>();
  const giveUp = () => resolve({ pass: false, note: 'the trial did not end in time' });
  let timer = setTimeout(giveUp, limitMs);
  child.on('message', (message: TrialMessage) => {
    if ('verdict' in message) return resolve(message.verdict);
    clearTimeout(timer);
    timer = setTimeout(giveUp, limitMs * message.patience);
  });
  child.on('exit', (code, signal) =>
    resolve({ pass: false, note: `the program died (${signal ?? code}): ${lastWords.trim()}` }),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await ended(child);
    for (const pid of new Events(directory).alive()) kill(pid);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Gives the process a moment to exit by itself. */
async function ended(child: ReturnType<typeof fork>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  const timer = setTimeout(() => child.kill('SIGKILL'), 1_500);
  await promise;
  clearTimeout(timer);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited by itself.
  }
}

/** A minimal environment: the path, and the compile cache that all trials share. */
function environment(home: string): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return { PATH: path, HOME: home, TMPDIR: home, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
}
