import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Wire } from '../../../src/mcp/connection/wire.ts';
import { listTools } from '../../../src/mcp/discovery/request-lists.ts';
import { open } from '../support/attempt.ts';
import { NotedTransport, rawServer } from '../support/raw-servers.ts';
import { testWorld } from '../support/servers.ts';
import { startWeb } from '../transports/http/support/web.ts';

describe('wire', () => {
  const outcome = (promise: Promise<void>) =>
    promise.then(
      () => 'sent',
      (fault) => (fault as { code: unknown }).code,
    );

  /** A wire whose replies stay pending until the test releases them. */
  async function openWire() {
    const transport = new NotedTransport('http');
    const underWay: PromiseWithResolvers<void>[] = [];
    transport.sendsLike = () => {
      const one = Promise.withResolvers<void>();
      underWay.push(one);
      return one.promise;
    };
    const wire = new Wire(transport);
    const heard: unknown[] = [];
    wire.onmessage = (message) => heard.push('method' in message && message.method);
    await wire.start();
    const reply = (id: string | number) =>
      outcome(wire.send({ jsonrpc: '2.0', id, result: {} } as JSONRPCMessage));
    const replyTo = (count: number, from = 0) => Array.from({ length: count }, (_, n) => reply(from + n));
    return { transport, wire, underWay, heard, reply, replyTo };
  }

  describe('replies to a server that takes its time', () => {
    test('go out 64 at once, and each of the rest in its turn', async () => {
      const { transport, underWay, replyTo } = await openWire();
      const outcomes = replyTo(200);
      expect(underWay).toHaveLength(64);
      underWay[0]?.resolve();
      underWay[1]?.reject(new Error('lost'));
      await vi.waitUntil(() => underWay.length === 66);
      for (let next = 2; next < 200; next++) {
        await vi.waitUntil(() => underWay.length > next, { interval: 1 });
        underWay[next]?.resolve();
      }
      expect((await Promise.all(outcomes)).filter((it) => it === 'sent')).toHaveLength(199);
      expect(transport.sent.map(({ message }) => message.id)).toEqual(
        Array.from({ length: 200 }, (_, n) => n),
      );
    });

    test('keep only pings from being heard, and those only while 64 are under way', async () => {
      const { transport, underWay, heard, replyTo } = await openWire();
      const outcomes = replyTo(63);
      transport.say({ id: 'a', method: 'ping' });
      expect(heard).toEqual(['ping']);
      outcomes.push(...replyTo(1));
      for (const method of ['ping', 'roots/list', 'sampling/createMessage'])
        transport.say({ id: 'b', method });
      expect(heard).toEqual(['ping', 'roots/list', 'sampling/createMessage']);
      underWay[0]?.resolve();
      await outcomes[0];
      transport.say({ id: 'c', method: 'ping' });
      expect(heard.at(-1)).toBe('ping');
    });

    test.each([
      ['ten thousand', 10_000, 'id'],
      ['those whose ids are as long as ten thousand', 10, 'x'.repeat(999_000)],
    ])('are refused beyond %s', async (_, count, id) => {
      const { underWay, reply } = await openWire();
      const outcomes = Array.from({ length: count }, () => reply(id));
      expect(await reply(id)).toBe('not-reading');
      underWay[0]?.resolve();
      expect(await outcomes[0]).toBe('sent');
      const room = reply(id);
      expect(await Promise.race([room, Promise.resolve('waits')])).toBe('waits');
    });

    test('do not hold up requests of our own', async () => {
      const { transport, wire, replyTo } = await openWire();
      void replyTo(200);
      void wire.send({ jsonrpc: '2.0', id: 'mine', method: 'tools/list' });
      expect(transport.sent.at(-1)?.message.id).toBe('mine');
    });

    test('are given up when the connection closes, if they are not under way', async () => {
      const { wire, replyTo } = await openWire();
      const outcomes = replyTo(66);
      await wire.close();
      expect(await Promise.all(outcomes.slice(64))).toEqual(['NOT_CONNECTED', 'NOT_CONNECTED']);
    });
  });

  describe('a reply that hangs', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test('makes room for another after 30 seconds, once', async () => {
      const { underWay, replyTo } = await openWire();
      const outcomes = replyTo(200);
      vi.advanceTimersByTime(29_999);
      expect(underWay).toHaveLength(64);
      vi.advanceTimersByTime(1);
      expect(underWay).toHaveLength(128);
      for (const one of underWay.slice(0, 64)) one.resolve();
      await Promise.all(outcomes.slice(0, 64));
      await new Promise(setImmediate);
      expect(underWay).toHaveLength(128);
    });
  });
});

describe('nesting', () => {
  const DEEP = `'{"a":'.repeat(20000) + '1' + '}'.repeat(20000)`;
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const TOO_DEEP = {
    code: 'too-large',
    message: expect.stringContaining('nested more than 512 levels deep'),
  };

  /** A server with a deeply nested `serverInfo` and tool, which sends deeply nested messages before it answers. */
  const server = {
    ...rawServer(`(message, send) => {
    const { id, method } = message;
    const write = (text) => process.stdout.write(text + '\\n');
    const deep = ${DEEP};
    if (method === 'initialize') write('{"jsonrpc":"2.0","id":' + id + ',"result":{"protocolVersion":"2025-11-25",' +
      '"capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"raw","version":"1","x":' + deep + '}}}');
    if (method === 'tools/list') write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":[' +
      '{"name":"deep","inputSchema":{"type":"object","properties":' + deep + '}},' +
      '{"name":"flat","inputSchema":{"type":"object"}}]}}');
    if (method === 'tools/call') {
      globalThis.call = id;
      const token = message.params._meta && message.params._meta.progressToken;
      write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":' + token + ',"progress":1,"x":' + deep + '}}');
      write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":' + deep + '}}');
      write('{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":' + deep + '}}');
    }
    if (id === 'q') send({ id: globalThis.call, result: { content: [{ type: 'text', text: JSON.stringify(message.error) }] } });
    if (method === 'prompts/get') write('{"jsonrpc":"2.0","id":' + id + ',"result":{"messages":' + deep + '}}');
    if (method === 'resources/read') write('{"jsonrpc":"2.0","id":' + id + ',"error":{"code":-1,"message":"no","data":' + deep + '}}');
    if (method === 'ping') send({ id, result: {} });
  }`),
    era: 'legacy' as const,
  };

  describe('a message nested too deep', () => {
    test('affects neither the connection nor later messages', async () => {
      const [noise, logs, progress]: [string[], unknown[], unknown[]] = [[], [], []];
      const world = testWorld({
        onUnexpectedOutput: (_, what) => noise.push(what),
        onLog: (_, entry) => logs.push(entry),
        clientFeatures: () => ({
          capabilities: { elicitation: {} },
          handlers: { 'elicitation/create': async () => ({ action: 'decline' }) },
        }),
      });
      await using far = await open(server, world);
      const { connection } = far;
      expect(connection.serverInfo).toMatchObject({ name: 'raw', version: '1' });
      expect(JSON.stringify(connection.serverInfo).length).toBeLessThan(5_000);
      const { content } = await connection.callTool('flat', {}, { onProgress: (it) => progress.push(it) });
      expect(content).toMatchObject([{ text: expect.stringContaining('"code":-32600') }]);
      expect({ logs, progress }).toEqual({ logs: [], progress: [] });
      expect(noise).toEqual([
        'a notification nested more than 512 levels deep was ignored: notifications/progress',
        'a notification nested more than 512 levels deep was ignored: notifications/message',
      ]);
      await expect(connection.request('prompts/get', { name: 'x' })).rejects.toMatchObject(TOO_DEEP);
      await expect(connection.request('resources/read', { uri: 'a:b' })).rejects.toMatchObject(TOO_DEEP);
      await connection.ping(new AbortController().signal);
    });

    test('does not affect the other tools of a list', async () => {
      await using far = await open(server);
      const { items, diagnostics } = await listTools(far.connection);
      expect(items.map(({ name }) => name)).toEqual(['flat']);
      expect(diagnostics).toMatchObject([{ entry: 'deep', fault: 'nested deeper than 200 levels' }]);
    });

    test.each(['application/json', 'text/event-stream'])(
      'fails its own request over HTTP, as %s',
      async (type) => {
        await using web = await startWeb(({ message }, response) => {
          if (message.method !== 'tools/call' || message.params?.name !== 'deep') return false;
          const body = `{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":${deep}}}`;
          response.writeHead(200, { 'content-type': type });
          return response.end(type === 'application/json' ? body : `event: message\ndata: ${body}\n\n`);
        });
        await using far = await open({ type: 'http', url: web.url, era: 'legacy' });
        await expect(far.connection.callTool('deep', {})).rejects.toMatchObject(TOO_DEEP);
        expect(await far.connection.callTool('flat', { a: 1 })).toMatchObject({
          content: [{ text: '{"a":1}' }],
        });
      },
    );
  });
});
