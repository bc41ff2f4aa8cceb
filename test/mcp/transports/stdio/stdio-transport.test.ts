import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { TOO_LARGE } from '../../../../src/mcp/transports/oversized-message.ts';
import { startHost } from '../../../support/lifeline.ts';
import { script } from '../../support/servers.ts';
import { isRunning, startDialed } from './dialed.ts';

/** Answers each request with its own params, until its input ends. */
const ECHO = `
  let text = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
    const lines = text.split('\\n');
    text = lines.pop();
    for (const line of lines) {
      const { id, params } = JSON.parse(line);
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result: params }));
    }
  });`;

const ask = (id: number, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0' as const,
  id,
  method: 'echo',
  params,
});

test('the official client knows it for a process, and it is not one of its own classes', async () => {
  const far = await startDialed(script(ECHO));
  expect('pid' in far.transport && 'stderr' in far.transport).toBe(true);
  expect(isRunning(far.transport.pid as number)).toBe(true);
  expect(far.transport.stderr).toBeTruthy();
  await expect(far.transport.start()).rejects.toThrow('already been started');
});

test('messages go both ways, many at once, whatever is in them', async () => {
  const far = await startDialed(script(ECHO));
  const asked = Array.from({ length: 500 }, (_, id) => ask(id, { text: `≠ \u2028 ${'é𝄞'.repeat(id)}` }));
  await Promise.all(asked.map((message) => far.transport.send(message)));
  await far.until(() => far.messages.length === 500);
  expect(far.messages).toEqual(asked.map(({ id, params }) => ({ jsonrpc: '2.0', id, result: params })));
});

test('a slow reader is waited for', async () => {
  const far = await startDialed(script(`setTimeout(() => { ${ECHO} }, 300)`));
  const began = performance.now();
  // The message is larger than the buffer of a pipe.
  await far.transport.send(ask(1, { text: 'x'.repeat(4_000_000) }));
  expect(performance.now() - began).toBeGreaterThan(100);
  await far.until(() => far.messages.length === 1);
});

test('bytes may come one by one, broken, in batches and between noise', async () => {
  const far = await startDialed(
    script(`
      const fs = require('node:fs');
      for (const byte of Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"t":"é𝄞"}}\\n')) fs.writeSync(1, Buffer.from([byte]));
      fs.writeSync(1, Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":2,"result":{"t":"'), Buffer.from([0xff]), Buffer.from('"}}\\n')]));
      fs.writeSync(1, '\\n  \\r\\nListening, token=abc123\\n{"level":"info"}\\n');
      fs.writeSync(1, '[{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","method":"x"}]\\n');
      process.stdin.resume();`),
  );
  await far.until(() => far.messages.length === 4);
  expect(far.messages).toEqual([
    { jsonrpc: '2.0', id: 1, result: { t: 'é𝄞' } },
    { jsonrpc: '2.0', id: 2, result: { t: '\ufffd' } },
    { jsonrpc: '2.0', id: 3, result: {} },
    { jsonrpc: '2.0', method: 'x' },
  ]);
  expect(far.noise).toEqual([
    'non-protocol output on stdout: Listening, token=[redacted]',
    'non-protocol output on stdout: {"level":"info"}',
  ]);
});

test('a flood of noise does not keep messages back', async () => {
  const far = await startDialed(
    script(`
      const noise = 'not json at all, just words\\n'.repeat(2000);
      let left = 100;
      const more = () => { while (left-- > 0) if (!process.stdout.write(noise)) return process.stdout.once('drain', more);
        process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n'); };
      more(); process.stdin.resume();`),
  );
  await far.until(() => far.messages.length === 1);
  expect(far.noise.length).toBeLessThan(30);
});

test('a message that is too long fails only its own request, immediately', async () => {
  const far = await startDialed({
    ...script(`
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const text = (end) => { let left = 64; const more = () => {
        while (left-- > 0) if (!process.stdout.write(piece)) return process.stdout.once('drain', more);
        end(); }; more(); };
      process.stdout.write('{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"');
      text(() => process.stdout.write('"}]},"id":7}\\n{"jsonrpc":"2.0","id":8,"result":{}}\\n'));
      process.stdin.resume();`),
    maxFrameBytes: 4 * 1024 * 1024,
  });
  // Measures CPU time between two turns of the event loop, since elapsed time depends on other processes.
  let longestMs = 0;
  let last = process.cpuUsage();
  const watch = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    last = process.cpuUsage();
  }, 1);
  await far.until(() => far.messages.length === 2);
  clearInterval(watch);
  expect(far.messages[0]).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: {
      code: TOO_LARGE,
      message: expect.stringMatching(
        /^the server sent a message of 6710\d{4} bytes, more than the limit of 4194304; raise "maxFrameBytes"/,
      ),
      data: { bytes: expect.any(Number), limit: 4_194_304 },
    },
  });
  expect(far.messages[1]).toMatchObject({ id: 8 });
  expect(longestMs).toBeLessThan(200);
});

test('a request of the server that is too long is answered, a notification is told of', async () => {
  const long = "'x'.repeat(2000)";
  const far = await startDialed({
    ...script(`
      process.stdin.once('data', (answer) => process.stderr.write(answer));
      console.log(JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { t: ${long} } }));
      console.log(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ask', params: { t: ${long} } }));`),
    maxFrameBytes: 1000,
  });
  await far.until(() => far.stderr.length > 0);
  expect(JSON.parse(far.stderr[0] as string)).toMatchObject({ id: 1, error: { code: -32600 } });
  expect(far.messages).toEqual([]);
  expect(far.noise).toHaveLength(2);
  expect(far.noise[0]).toContain('the limit of 1000');
});

test('a flood of stderr does not slow down requests, and only the last lines are kept', async () => {
  const far = await startDialed(
    script(`
      const fs = require('node:fs');
      const flood = ('warning '.repeat(10) + '\\n').repeat(1000);
      for (let at = 0; at < 200; at++) fs.writeSync(2, flood);
      fs.writeSync(2, 'y'.repeat(300000) + '\\nlast token=abc123\\n');
      console.log('{"jsonrpc":"2.0","id":1,"result":{}}');
      process.stdin.resume();`),
    { onStderr: () => {} },
  );
  await far.until(() => far.messages.length === 1);
  await expect.poll(() => far.dialed.stderr().at(-1)).toBe('last token=[redacted]');
  const lines = far.dialed.stderr();
  expect(lines).toHaveLength(20);
  expect(lines.at(-2)).toBe(`${'y'.repeat(500)}…`);
});

test.each([
  ['process.exit(3)', '(exited with code 3)'],
  ['process.kill(process.pid, "SIGKILL")', '(ended by SIGKILL)'],
])('%s is told as its last line, after all it sent and said', async (end, epitaph) => {
  const far = await startDialed(
    script(`
      const fs = require('node:fs');
      fs.writeSync(1, '{"jsonrpc":"2.0","id":1,"result":{}}\\n');
      fs.writeSync(2, 'cannot go on\\nwithout a newline');
      ${end}`),
  );
  await far.closed;
  expect(far.messages).toHaveLength(1);
  expect(far.dialed.stderr()).toEqual(['cannot go on', 'without a newline', epitaph]);
  await far.dialed.close();
  expect(far.closes()).toBe(1);
  expect(far.dialed.stderr()).toHaveLength(3);
  await expect(far.transport.send(ask(1))).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
});

test('a server that closes its output but lives on is ended', async () => {
  const far = await startDialed(script(`require('node:fs').closeSync(1); setInterval(() => {}, 1000)`));
  const pid = far.transport.pid as number;
  await far.closed;
  await far.dialed.close();
  expect(isRunning(pid)).toBe(false);
  expect(far.closes()).toBe(1);
  expect(far.dialed.stderr()).toEqual(['(the process closed its stdin or stdout)']);
});

test('a server that closes its input makes sending fail, not the host', async () => {
  const far = await startDialed(
    script(`require('node:fs').closeSync(0); console.error('deaf'); setInterval(() => {}, 1000)`),
  );
  await far.until(() => far.stderr.length > 0);
  const sent = far.transport.send(ask(1, { text: 'x'.repeat(1_000_000) }));
  await expect(sent).rejects.toMatchObject({ code: 'EPIPE', message: expect.stringContaining('input') });
  await far.closed;
  expect(far.errors).toMatchObject([{ code: 'EPIPE' }]);
  await expect(far.transport.send(ask(2))).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
});

test('a listener that throws is told of, and the next message is delivered', async () => {
  const far = await startDialed(script(ECHO));
  const { onmessage } = far.transport;
  far.transport.onmessage = () => {
    far.transport.onmessage = onmessage as NonNullable<typeof onmessage>;
    throw new Error('mine');
  };
  await far.transport.send(ask(1));
  await far.transport.send(ask(2));
  await far.until(() => far.messages.length === 1);
  expect(far.errors).toMatchObject([{ message: 'mine' }]);
});

test('nothing is timed while nothing happens', async () => {
  const host = startHost(`
    const { dialStdio } = await import('#mcp/transports/stdio/dial-stdio.ts');
    const world = { env: process.env, connectTimeoutMs: 1000, clientInfo: { name: 'test', version: '1' } };
    const { transport, close } = await dialStdio('srv', { command: 'cat' }, world);
    transport.onmessage = async () => {
      console.log(process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length);
      await close();
    };
    await transport.start();
    await transport.send({ jsonrpc: '2.0', method: 'x' });
  `);
  expect(await text(host.stdout as NodeJS.ReadableStream)).toBe('0\n');
});
