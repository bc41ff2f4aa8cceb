import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { ProcessGroup } from '../../../src/base/process/process-group.ts';

/** Runs a script as leader of a group until its output matches; `$0` is this file. */
async function started(script: string, said: RegExp) {
  const shell = spawn('bash', ['-c', script, import.meta.filename], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const group = new ProcessGroup(shell.pid as number);
  onTestFinished(() => void group.signal('SIGKILL'));
  let text = '';
  while (!said.test(text)) text += (await once(shell.stdout, 'data'))[0];
  return { group, shell, text };
}

test('signals the whole group, and returns false for an empty one', async () => {
  const { group, shell } = await started('sleep 600 & sleep 600 & echo ready; wait', /ready/);
  expect(group.isRunning()).toBe(true);
  expect(group.signal('SIGKILL')).toBe(true);
  await once(shell, 'close');
  await expect.poll(() => group.isRunning()).toBe(false);
});

test.runIf(process.platform === 'linux')('a zombie does not count as running', async () => {
  // A job in its own group, whose parent becomes a program that never reaps it.
  const script = 'set -m; sleep 600 > /dev/null & echo $!; exec tail -n 1 -f "$0"';
  const { text } = await started(script, /^\d+\n./s);
  const job = new ProcessGroup(Number.parseInt(text, 10));
  onTestFinished(() => void job.signal('SIGKILL'));
  expect(job.isRunning()).toBe(true);
  job.signal('SIGKILL');
  await expect.poll(() => job.isRunning()).toBe(false);
  expect(job.signal(0)).toBe(true);
});

test('an unknown group does not count as running', () => {
  const missing = new ProcessGroup(2 ** 22 + 1);
  expect([missing.signal(0), missing.isRunning()]).toEqual([false, false]);
});

test('finds members that outlive their leader and later ones', async () => {
  const { group, shell } = await started('(sleep 0.2; sleep 600) & echo ready', /ready/);
  if (shell.exitCode === null) await once(shell, 'exit');
  expect(group.isRunning()).toBe(true);
  expect(await group.isGone(400)).toBe(false);
  await group.end();
  expect(group.isRunning()).toBe(false);
});
