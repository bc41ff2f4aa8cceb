import { expect, test } from 'vitest';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';
import { script } from '../../support/servers.ts';
import { isRunning, startDialed } from './dialed.ts';

const shell = (text: string): StdioServerEntry => ({ command: 'bash', args: ['-c', text] });

/** Starts the server, waits for this many lines with process ids, and closes it. */
async function closing(entry: StdioServerEntry, lines = 1) {
  const far = await startDialed(entry);
  await far.until(() => far.stderr.filter((line) => /^\d+$/.test(line)).length >= lines);
  const pids = far.stderr.filter((line) => /^\d+$/.test(line)).map(Number);
  expect(pids.map(isRunning)).toEqual(pids.map(() => true));
  const began = performance.now();
  await far.dialed.close();
  return { far, pids, took: performance.now() - began };
}

test('a server that heeds the end of its input is asked nothing more', async () => {
  const { far, pids } = await closing(
    shell(`trap 'echo INT >&2' INT; trap 'echo TERM >&2' TERM; echo $$ >&2; read -r line`),
  );
  expect(pids.map(isRunning)).toEqual([false]);
  expect(far.stderr).toEqual([String(pids[0])]);
  expect(far.closes()).toBe(1);
});

test('nothing is waited for after the exit', async () => {
  const took: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const far = await startDialed(shell('echo $$ >&2; read -r line'));
    await far.until(() => far.stderr.length > 0);
    const began = performance.now();
    await far.dialed.close();
    took.push(performance.now() - began);
  }
  // Other processes may have delayed some of the runs, but not all of them.
  expect(Math.min(...took)).toBeLessThan(30);
});

test('R184: one that does not is interrupted, asked and made to end, in this order', async () => {
  const { far, pids, took } = await closing(
    script(`
      for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.error(signal));
      console.error(process.pid); setInterval(() => {}, 1000);`),
  );
  expect(pids.map(isRunning)).toEqual([false]);
  expect(far.stderr.slice(1)).toEqual(['SIGINT', 'SIGTERM']);
  expect(took).toBeGreaterThan(1400);
  expect(took).toBeLessThan(2500);
});

test('one that ends when interrupted is not asked again', async () => {
  const { took } = await closing(script(`console.error(process.pid); setInterval(() => {}, 1000);`));
  expect(took).toBeGreaterThan(450);
  expect(took).toBeLessThan(990);
});

test('grandchildren end too, also those who ignore being asked', async () => {
  const deaf = `(trap "" INT TERM; echo $BASHPID >&2; while :; do sleep 0.05; done) &`;
  const { pids, took } = await closing(shell(`${deaf} sleep 600 & echo $! >&2; read -r line`), 2);
  expect(pids.map(isRunning)).toEqual([false, false]);
  // The leader exits at the end of its input: the other processes get SIGTERM at once and SIGKILL 500 ms later.
  expect(took).toBeLessThan(1400);
});

test('grandchildren left by a server that ended by itself are ended', async () => {
  const far = await startDialed(shell('sleep 600 & echo $! >&2; exit 4'));
  await far.closed;
  const pid = Number(far.stderr[0]);
  await far.dialed.close();
  expect(isRunning(pid)).toBe(false);
  expect(far.dialed.stderr()).toEqual([String(pid), '(exited with code 4)']);
});

test('who closes twice at once waits for the same end', async () => {
  const far = await startDialed(script(`console.error(process.pid); setInterval(() => {}, 1000)`));
  await far.until(() => far.stderr.length > 0);
  await Promise.all(
    [far.dialed.close(), far.transport.close(), far.dialed.close()].map(async (closed) => {
      await closed;
      expect(isRunning(Number(far.stderr[0]))).toBe(false);
    }),
  );
  expect(far.closes()).toBe(1);
});

test('what was sent before the end is still read, and what comes of it still delivered', async () => {
  const far = await startDialed(
    script(`
      let text = '';
      process.stdin.on('data', (chunk) => { text += chunk; });
      process.stdin.on('end', () => console.log(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { lines: text.split('\\n').length - 1 } })));`),
  );
  for (let id = 0; id < 3; id++) void far.transport.send({ jsonrpc: '2.0', method: 'note' });
  await far.dialed.close();
  expect(far.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { lines: 3 } }]);
});

test('what a server asked on stderr without a newline is known after the end', async () => {
  const far = await startDialed(shell('echo ready >&2; printf "Password: " >&2; read -r line'));
  await far.until(() => far.stderr.length > 0);
  await far.dialed.close();
  expect(far.dialed.stderr()).toEqual(['ready', 'Password:']);
});

test('a process that left the group and holds the pipes does not delay the close', async () => {
  const far = await startDialed(shell('setsid sleep 3 & echo $! >&2; sleep 0.1; exit 0'));
  const began = performance.now();
  await far.closed;
  await far.dialed.close();
  expect(performance.now() - began).toBeLessThan(1500);
});
