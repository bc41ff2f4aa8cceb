import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../../../support/compile-cache.ts';
import type { Far } from './set-up.ts';
import { until } from './until.ts';

/** The number of processes that were started so far. */
type Started = { started(): Promise<number> };

/** The contract server as a process, which each connection starts; the process ids are in a file. */
export async function startStdio(era: 'legacy' | 'modern'): Promise<Far & Started> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-'));
  const pidFile = join(folder, 'pids');
  await writeFile(pidFile, '');
  const script = fileURLToPath(new URL(`../fixtures/stdio-${era}.ts`, import.meta.url));
  const pids = async () => (await readFile(pidFile, 'utf8')).split('\n').filter((pid) => pid !== '');
  const alive = async () => (await pids()).filter(isAlive);
  const stop = async () => {
    const before = await alive();
    for (const pid of before) process.kill(Number(pid), 'SIGKILL');
    await until(() => !before.some(isAlive), 'the processes are gone');
  };
  return {
    entry: { command: process.execPath, args: [script, pidFile], env: COMPILE_CACHE },
    stop,
    revive: async () => {},
    cut: () => {},
    lock: () => {},
    left: async () => (await alive()).length,
    started: async () => (await pids()).length,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

function isAlive(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}
