import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { lifeline, startHost } from '../../../support/lifeline.ts';
import { isRunning } from './dialed.ts';

/** A host that starts a shell with this script; `then` is the code that runs with `dialed` afterwards. */
function hostOf(command: string, then: string) {
  return startHost(`
    const { dialStdio } = await import('#mcp/transports/stdio/dial-stdio.ts');
    const world = { env: process.env, connectTimeoutMs: 1000, clientInfo: { name: 'test', version: '1' } };
    const entry = { command: 'bash', args: ['-c', ${JSON.stringify(command)}] };
    const dialed = await dialStdio('deaf', entry, world);
    ${then}
  `);
}

const STARTED = `await dialed.transport.start(); console.log('ready'); setInterval(() => {}, 1000);`;

test('a killed host leaves no server, no child of it, and no process that ignores signals', async () => {
  const { hold, started, ended } = lifeline();
  const deaf = `trap "" INT TERM HUP; (while :; do sleep 0.05; done) & while :; do sleep 0.05; done`;
  const host = hostOf(`${hold} ${deaf}`, STARTED);
  await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
  const began = performance.now();
  host.kill('SIGKILL');
  await ended;
  expect(performance.now() - began).toBeLessThan(5000);
});

test('a server that heeds the end of its input gets the time for it', async () => {
  const { hold, started, ended } = lifeline();
  const saved = lifeline();
  const host = hostOf(`${hold} read -r line; ${saved.hold} sleep 0.2`, STARTED);
  await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
  host.kill('SIGKILL');
  await saved.started;
  await ended;
});

test('a host that is killed right after the start, before anything else happens, leaves nothing either', async () => {
  const host = hostOf(
    'exec sleep 600',
    `const { writeSync } = await import('node:fs');
     await dialed.transport.start();
     writeSync(1, String(dialed.transport.pid));
     process.kill(process.pid, 'SIGKILL');`,
  );
  const pid = Number(await text(host.stdout as NodeJS.ReadableStream));
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isRunning(pid), { timeout: 5000 }).toBe(false);
});

test('a host that exits without closing leaves nothing', async () => {
  const { hold, started, ended } = lifeline();
  const host = hostOf(
    `${hold} exec sleep 600`,
    `await dialed.transport.start(); process.stdin.once('data', () => process.exit(0)); console.log('ready');`,
  );
  await Promise.all([started, once(host.stdout as NodeJS.ReadableStream, 'data')]);
  host.stdin?.write('go\n');
  await ended;
});
