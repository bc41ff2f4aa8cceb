import { PassThrough } from 'node:stream';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { RpcMessage } from '../../../src/protocol/json-rpc.ts';
import { serveStdio, serveTransport, type Transport } from '../../../src/tool-server/serving/serve.ts';
import { type AnyTool, tool } from '../../../src/tool-server/tool.ts';
import { ToolServer } from '../../../src/tool-server/tool-server.ts';
import { gate } from '../../support/gate.ts';

describe('serve stdio', () => {
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

  test('a client that closes its input immediately gets every response', async () => {
    const { server, input, ask, lines } = serve([add]);
    ask(1, 'add', { a: 5, b: 3 });
    input.end(
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}',
    );
    expect(await lines()).toEqual(expect.arrayContaining([success(1, text('8')), success(2, {})]));
    expect(server.isConnected()).toBe(false);
  });

  test('a call that runs too long after the end of the input is abandoned', async () => {
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

  test('a line that is not JSON is -32700, and the next one is served', async () => {
    const { input, lines } = serve([add]);
    input.end('nonsense\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    expect(await lines()).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'the line is not JSON' } },
      success(1, {}),
    ]);
  });

  test('a result that is not serializable is an error; such a notification is dropped', async () => {
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
        error: {
          code: -32603,
          message: expect.stringMatching(/^The result cannot be serialized as JSON: .*BigInt/),
        },
      },
    ]);
  });

  test('notifications are written as lines too', async () => {
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
      'batches are not supported: send one message per line',
    ],
    ['a number', '42', 'a JSON-RPC message must be an object'],
    ['null', 'null', 'a JSON-RPC message must be an object'],
    ['an id that is a fraction', '{"id":1.5,"method":"ping"}', 'an id must be a string or a whole number'],
    ['an id that is null', '{"id":null,"method":"ping"}', 'an id must be a string or a whole number'],
    [
      'params and id that are none',
      '{"id":1.5,"method":"ping","params":[]}',
      'the params of ping must be an object',
    ],
    ['nothing at all', '{}', 'a JSON-RPC message needs a method, a result or an error'],
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
    ['a result without a request', '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
    ['a notification with odd params', '{"jsonrpc":"2.0","method":"notifications/x","params":[]}'],
  ])('%s is not answered', async (_name, line) => {
    const { input, lines } = serve([add]);
    input.end(`${line}\n`);
    expect(await lines()).toEqual([]);
  });
});

describe('transport', () => {
  const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
  const add = tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b);

  /** The official client, connected to the server in memory. */
  async function connect(server: ToolServer) {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far as unknown as Transport);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(near);
    return { client, transport: far, [Symbol.asyncDispose]: () => client.close() };
  }

  describe('the official client', () => {
    test('handshakes, lists and calls', async () => {
      const server = new ToolServer({
        name: 'calc',
        version: '1.2.3',
        instructions: 'Use add.',
        tools: [add],
      });
      await using far = await connect(server);
      expect(far.client.getServerVersion()).toEqual({ name: 'calc', version: '1.2.3' });
      expect(far.client.getInstructions()).toBe('Use add.');
      expect((await far.client.listTools()).tools).toEqual(server.toolsList().tools);
      expect(await far.client.callTool({ name: 'add', arguments: { a: 2, b: 40 } })).toEqual(text('42'));
      expect(await far.client.callTool({ name: 'nope' })).toMatchObject({ isError: true });
    });

    test('any number of clients are served at once', async () => {
      const server = new ToolServer({ name: 'calc', tools: [add] });
      const clients = await Promise.all([1, 2, 3].map(() => connect(server)));
      const sums = clients.map(({ client }, a) => client.callTool({ name: 'add', arguments: { a, b: 1 } }));
      expect(await Promise.all(sums)).toEqual([text('1'), text('2'), text('3')]);
      await Promise.all(clients.map(({ client }) => client.close()));
      expect(server.isConnected()).toBe(false);
    });

    test('gets progress and list changes', async () => {
      const steps = tool('steps', '', {}, (_args, { progress }) => progress(1, { total: 2 }));
      const server = new ToolServer({ name: 'calc', tools: [steps] });
      await using far = await connect(server);
      const heard: unknown[] = [];
      await far.client.callTool({ name: 'steps' }, { onprogress: (it) => heard.push(it) });
      expect(heard).toEqual([{ progress: 1, total: 2 }]);
      const changed = Promise.withResolvers<void>();
      far.client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
      server.add(add);
      await changed.promise;
      expect((await far.client.listTools()).tools.map((it) => it.name)).toEqual(['steps', 'add']);
    });

    test('cancels a call', async () => {
      const door = gate();
      const aborted = Promise.withResolvers<unknown>();
      const slow = tool('slow', '', {}, (_args, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason));
        return door.pass();
      });
      await using far = await connect(new ToolServer({ name: 'calc', tools: [slow] }));
      const controller = new AbortController();
      const call = far.client.callTool({ name: 'slow' }, { signal: controller.signal });
      await door.reached;
      controller.abort('enough');
      await expect(call).rejects.toThrow();
      expect(await aborted.promise).toMatchObject({ name: 'AbortError' });
    });

    test('is disconnected when the server closes', async () => {
      const server = new ToolServer({ name: 'calc', tools: [add] });
      const { client } = await connect(server);
      const closed = Promise.withResolvers<void>();
      client.onclose = closed.resolve;
      await server.close();
      await closed.promise;
      await using again = await connect(server);
      expect(await again.client.callTool({ name: 'add', arguments: { a: 1, b: 1 } })).toEqual(text('2'));
    });
  });

  describe('a transport', () => {
    const server = new ToolServer({ name: 'calc', tools: [add] });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const receive = (transport: Transport, message: unknown) =>
      (transport.onmessage as unknown as (message: unknown) => void)(message);

    test.each<[string, () => Promise<void>]>([
      ['rejects', () => Promise.reject(new Error('gone'))],
      [
        'throws',
        () => {
          throw new Error('gone');
        },
      ],
    ])('whose send %s calls its onerror', async (_how, send) => {
      const failed = Promise.withResolvers<Error>();
      const transport: Transport = {
        start: async () => {},
        send,
        close: async () => {},
        onerror: failed.resolve,
      };
      await server.connect(transport);
      receive(transport, ping);
      expect(await failed.promise).toEqual(new Error('gone'));
      transport.onclose?.();
    });

    test('keeps the onclose handler of its owner', async () => {
      const log: string[] = [];
      const transport: Transport = {
        start: async () => {},
        send: async () => {},
        close: async () => {},
        onclose: () => log.push('owner told'),
      };
      await server.connect(transport);
      expect(server.isConnected()).toBe(true);
      transport.onclose?.();
      expect([log, server.isConnected()]).toEqual([['owner told'], false]);
    });

    test('that does not start leaves no session', async () => {
      const transport: Transport = {
        start: () => Promise.reject(new Error('port in use')),
        send: async () => {},
        close: async () => {},
      };
      await expect(server.connect(transport)).rejects.toThrow('port in use');
      expect(server.isConnected()).toBe(false);
    });

    test('delivers messages that arrive while it starts', async () => {
      const sent: RpcMessage[] = [];
      const transport: Transport = {
        start: async () => receive(transport, ping),
        send: async (message) => void sent.push(message),
        close: async () => {},
      };
      await serveTransport((port) => server.open(port), transport, 'calc');
      await new Promise((resolve) => setImmediate(resolve));
      expect(sent).toEqual([{ result: {}, jsonrpc: '2.0', id: 1 }]);
      transport.onclose?.();
    });
  });
});
