import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { serveStdio } from '../../src/tool-server/serve-stdio.ts';
import { type AnyTool, tool } from '../../src/tool-server/tool.ts';
import { ToolServer } from '../../src/tool-server/tool-server.ts';
import { gate } from '../support/gate.ts';

const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
const success = (id: number, result: object) => ({ result, jsonrpc: '2.0', id });
const add = tool('add', '', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);

/** A server on a pair of streams, and the lines it has written when it is done. */
function serve(tools: AnyTool[], options: { graceMs?: number; logging?: boolean } = {}) {
  const { logging = false, ...rest } = options;
  const server = new ToolServer({ name: 'calc', tools, logging });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = serveStdio((port) => server.open(port), 'calc', { input, output, ...rest });
  const lines = async () => {
    await done;
    output.end();
    const written = Buffer.concat(await output.toArray()).toString();
    return written
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown);
  };
  const ask = (id: number, name: string, args: object = {}) =>
    input.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`,
    );
  return { server, input, ask, lines };
}

test('who pipes its requests in and closes at once gets every answer', async () => {
  const { server, input, ask, lines } = serve([add]);
  ask(1, 'add', { a: 5, b: 3 });
  input.end(
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}',
  );
  expect(await lines()).toEqual(expect.arrayContaining([success(1, text('8')), success(2, {})]));
  expect(server.isConnected()).toBe(false);
});

test('a call that goes on too long after the input has ended is given up', async () => {
  const door = gate();
  let signal: AbortSignal | undefined;
  const hangs = tool('hangs', '', {}, (_args, ctx) => {
    signal = ctx.signal;
    return door.pass();
  });
  const { input, ask, lines } = serve([hangs], { graceMs: 10 });
  ask(1, 'hangs');
  await door.reached;
  input.end();
  expect(await lines()).toEqual([
    { jsonrpc: '2.0', id: 1, error: { code: -32603, message: "server 'calc' is closed" } },
  ]);
  expect(signal?.aborted).toBe(true);
});

test('a line that is no JSON is -32700, and the next one is served', async () => {
  const { input, lines } = serve([add]);
  input.end('nonsense\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  expect(await lines()).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'the line is no JSON' } },
    success(1, {}),
  ]);
});

test('a result that cannot be written is answered as a failure; such a notification is dropped', async () => {
  const odd = tool('odd', '', {}, (_args, { log }) => {
    log('info', { n: 1n });
    return { content: [], structuredContent: { n: 1n } };
  });
  const { input, ask, lines } = serve([odd], { logging: true });
  ask(1, 'odd');
  input.end();
  expect(await lines()).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: expect.stringMatching(/^The result cannot be sent: .*BigInt/) },
    },
  ]);
});

test('notifications go out as lines too', async () => {
  const steps = tool('steps', '', {}, (_args, { sendNotification }) =>
    sendNotification({ method: 'notifications/resources/list_changed' }),
  );
  const { input, ask, lines } = serve([steps]);
  ask(1, 'steps');
  input.end();
  expect(await lines()).toEqual([
    { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
    success(1, { content: [] }),
  ]);
});

test.each([
  [
    'a batch',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    'batches are not served: send one message a line',
  ],
  ['a number', '42', 'a JSON-RPC message is an object'],
  ['null', 'null', 'a JSON-RPC message is an object'],
  ['an id that is a fraction', '{"id":1.5,"method":"ping"}', 'an id is a string or a whole number'],
  ['an id that is null', '{"id":null,"method":"ping"}', 'an id is a string or a whole number'],
  [
    'params and id that are none',
    '{"id":1.5,"method":"ping","params":[]}',
    'the params of ping are not an object',
  ],
  ['nothing at all', '{}', 'a JSON-RPC message has a method, a result or an error'],
])('%s is -32600 without an id, and the next line is served', async (_name, line, message) => {
  const { input, lines } = serve([add]);
  input.end(`${line}\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n`);
  expect(await lines()).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32600, message } },
    success(1, {}),
  ]);
});

test.each([
  ['a failure without an id', '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}'],
  ['a result nobody asked for', '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
  ['a notification with odd params', '{"jsonrpc":"2.0","method":"notifications/x","params":[]}'],
])('%s is not answered', async (_name, line) => {
  const { input, lines } = serve([add]);
  input.end(`${line}\n`);
  expect(await lines()).toEqual([]);
});
