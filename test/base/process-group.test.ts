import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { isGroupRunning, signalGroup } from '../../src/base/process-group.ts';

/** Runs a script that leads a group, until what it said is as expected; it is given this file as `$0`. */
async function started(script: string, said: RegExp) {
  const shell = spawn('bash', ['-c', script, import.meta.filename], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const leader = shell.pid as number;
  onTestFinished(() => void signalGroup(leader, 'SIGKILL'));
  let text = '';
  while (!said.test(text)) text += (await once(shell.stdout, 'data'))[0];
  return { leader, shell, text };
}

test('a signal reaches the whole group, and none when nobody is left', async () => {
  const { leader, shell } = await started('sleep 600 & sleep 600 & echo ready; wait', /ready/);
  expect(isGroupRunning(leader)).toBe(true);
  expect(signalGroup(leader, 'SIGKILL')).toBe(true);
  await once(shell, 'close');
  await expect.poll(() => isGroupRunning(leader)).toBe(false);
});

test.runIf(process.platform === 'linux')('what has ended and was not collected does not run', async () => {
  // A job in a group of its own, whose parent becomes a program that never asks what became of it.
  const script = 'set -m; sleep 600 > /dev/null & echo $!; exec tail -n 1 -f "$0"';
  const { text } = await started(script, /^\d+\n./s);
  const job = Number.parseInt(text, 10);
  expect(isGroupRunning(job)).toBe(true);
  signalGroup(job, 'SIGKILL');
  await expect.poll(() => isGroupRunning(job)).toBe(false);
  expect(signalGroup(job, 0)).toBe(true);
});

test('a group that never was does not run', () => {
  const nobody = 2 ** 22 + 1;
  expect([signalGroup(nobody, 0), isGroupRunning(nobody)]).toEqual([false, false]);
});
