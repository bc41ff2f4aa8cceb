import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { RpcMessage } from '../../src/protocol/json-rpc.ts';
import { tool } from '../../src/tool-server/tool.ts';
import { ToolServer } from '../../src/tool-server/tool-server.ts';
import { serveTransport, type Transport } from '../../src/tool-server/transport.ts';
import { gate } from '../support/gate.ts';

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
    const server = new ToolServer({ name: 'calc', version: '1.2.3', instructions: 'Use add.', tools: [add] });
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

  test('hears of progress and of changed tools', async () => {
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

  test('is let go when the server closes', async () => {
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
  ])('whose sending %s tells its own onerror', async (_how, send) => {
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

  test('keeps the onclose its owner gave it', async () => {
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

  test('carries messages that come while it starts', async () => {
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
