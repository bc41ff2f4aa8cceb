import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { ConnectContext, ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { memoryEraCache } from '../../../src/mcp/connection/protocol-era.ts';
import { listTools } from '../../../src/mcp/discovery/request-lists.ts';
import { failure, open } from '../support/attempt.ts';
import { startModernHttp, stdioModern } from '../support/modern-servers.ts';
import { rawServer } from '../support/raw-servers.ts';
import { everything, testWorld } from '../support/servers.ts';
import { startSseServer } from '../support/sse-server.ts';
import { startWeb } from '../transports/http/support/web.ts';

describe('connect', () => {
  describe('a URL without a type', () => {
    test('leads to a server of the older HTTP if no other is there (R154, C27)', async () => {
      await using web = await startSseServer();
      await using far = await open({ url: web.url });
      expect(far.connection).toMatchObject({ era: 'legacy', serverInfo: { name: 'old' } });
      expect(await far.connection.callTool('any', {})).toEqual({ content: [] });
      expect(web.heard.slice(0, 3)).toEqual(['POST /', 'POST /', 'GET /']);
    });

    test('to a web page is reported with the failure of the first transport', async () => {
      await using web = await startSseServer('page');
      expect(await failure({ url: web.url })).toMatchObject({
        code: 'unreachable',
        message: expect.stringMatching(/html|web page/),
      });
    });

    test('with a closed port is not tried twice', async () => {
      const web = await startSseServer();
      await web[Symbol.asyncDispose]();
      expect(await failure({ url: web.url })).toMatchObject({ code: 'unreachable', hasRun: 'no' });
      expect(web.heard).toEqual([]);
    });
  });

  test('a kind of server that has no transport is refused by name', async () => {
    const thrown = await failure({ type: 'pigeon', url: 'http://127.0.0.1:1' } as never);
    expect(thrown).toMatchObject({ code: 'bad-config', message: expect.stringContaining('"pigeon"') });
  });

  describe('the timeout error names the stage that was reached', () => {
    test('a process that answers nothing', async () => {
      const world = testWorld({ connectTimeoutMs: 700 });
      expect(await failure({ ...rawServer('() => {}'), era: 'legacy' }, world)).toMatchObject({
        code: 'timeout',
        hasRun: 'no',
        message: expect.stringMatching(
          /^MCP server "srv": the server was not ready within 700 ms: no response to "initialize"; raise connectTimeoutMs if the server is slow to start; stderr: started/,
        ),
      });
    });

    test('an http server that takes the connection and says nothing; the entry has the last word on the time', async () => {
      const deaf = createServer();
      await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}/`;
      const thrown = await failure({ type: 'http', url, connectTimeoutMs: 200 });
      deaf.close();
      expect(thrown).toMatchObject({
        code: 'timeout',
        message: expect.stringContaining('within 200 ms: no response to "initialize"'),
      });
    });
  });
});

describe('eras', () => {
  /** A context with an era cache, and a function that returns the methods which the raw server has received. */
  function hearing(more: Partial<ConnectContext> = {}) {
    const heard: string[] = [];
    const world = testWorld({ eraCache: memoryEraCache(), onStderr: (_, line) => heard.push(line), ...more });
    const take = () => heard.splice(0).filter((line) => !line.startsWith('notifications/'));
    return { world, take };
  }

  /** Connects, closes, and returns the era of the connection. */
  async function eraOf(entry: ServerEntry, world: ConnectContext) {
    await using far = await open(entry, world);
    return far.connection.era;
  }

  describe('a stdio server', () => {
    test('of the older protocol is asked once, in its one process, and not again', async () => {
      const { world, take } = hearing();
      const entry = rawServer(`({ id, method, ...rest }, send, greet) => {
      if (method === 'initialize') greet({ id, ...rest });
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } });
    }`);
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'server/discover', 'initialize']);
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'initialize']);
    });

    test('that dies of the question is dialled once more, and not asked again', async () => {
      const { world, take } = hearing();
      const entry = rawServer(`(message, send, greet) => {
      if (message.method === 'server/discover') process.exit(1);
      if (message.method === 'initialize') greet(message);
    }`);
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take().filter((line) => !line.startsWith('('))).toEqual([
        'started',
        'server/discover',
        'started',
        'initialize',
      ]);
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'initialize']);
    });

    test('that ignores the question is of the older protocol', async () => {
      const { world, take } = hearing({ connectTimeoutMs: 3000 });
      const entry = rawServer(`(message, send, greet) => message.method === 'initialize' && greet(message)`);
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'server/discover', 'initialize']);
    });

    test('that fails after an unanswered probe is connected again without it', async () => {
      const { world, take } = hearing({ connectTimeoutMs: 3000 });
      const entry = rawServer(`(message, send, greet) => {
      if (message.method === 'server/discover') globalThis.isOdd = true;
      if (message.method !== 'initialize') return;
      if (globalThis.isOdd) send({ id: message.id, error: { code: -32600, message: 'confused' } });
      else greet(message);
    }`);
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'server/discover', 'initialize', 'started', 'initialize']);
    });

    test('that answers the probe late and knows no other method is modern', async () => {
      const { world, take } = hearing({ connectTimeoutMs: 6000 });
      const discovered = {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: 'private',
      };
      const entry = rawServer(`({ id, method }, send) => {
      const discovered = () => send({ id, result: ${JSON.stringify(discovered)} });
      if (method === 'server/discover') setTimeout(globalThis.tell = discovered, 2400).unref();
      if (method !== 'initialize') return;
      globalThis.tell();
      send({ id, error: { code: -32601, message: 'no' } });
    }`);
      expect(await eraOf(entry, world)).toBe('modern');
      expect(take()).toEqual(['started', 'server/discover', 'initialize', 'started', 'server/discover']);
    });

    test('that hung after the question is dialled without it the next time', async () => {
      const { world, take } = hearing({ connectTimeoutMs: 900 });
      const entry = rawServer(`(message, send, greet) => {
      if (message.method === 'server/discover') globalThis.isStuck = true;
      if (message.method === 'initialize' && !globalThis.isStuck) greet(message);
    }`);
      expect(await failure(entry, world)).toMatchObject({
        code: 'timeout',
        message: expect.stringMatching(/within 900 ms: no response to "initialize"; raise connectTimeoutMs/),
      });
      take();
      expect(await eraOf(entry, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'initialize']);
    });

    test('that has changed is probed again', async () => {
      const { world, take } = hearing();
      world.eraCache = { recall: () => ({ era: 'legacy' }), remember: () => {} };
      expect(await eraOf(stdioModern, world)).toBe('modern');
      take();
    });

    test('of the newer protocol says so', async () => {
      const { world } = hearing();
      await using far = await open(stdioModern, world);
      expect(far.connection).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
      await far.connection.ping(AbortSignal.timeout(5000));
    });

    test('of others that speaks the newer protocol is understood', async () => {
      const path = '../../../interop/node_modules/@upstash/context7-mcp/dist/index.js';
      const args = [fileURLToPath(new URL(path, import.meta.url))];
      await using far = await open({ command: process.execPath, args });
      expect(far.connection.era).toBe('modern');
      const { items } = await listTools(far.connection);
      expect(items.map(({ name }) => name)).toEqual(['resolve-library-id', 'query-docs']);
    });
  });

  describe('an entry that says its era', () => {
    test('as the older one: the question is not asked', async () => {
      const { world, take } = hearing();
      const entry = rawServer(`(message, send, greet) => message.method === 'initialize' && greet(message)`);
      expect(await eraOf({ ...entry, era: 'legacy' }, world)).toBe('legacy');
      expect(take()).toEqual(['started', 'initialize']);
    });

    test('as the newer one: there is no other way', async () => {
      expect(await failure({ ...everything, era: 'modern' })).toMatchObject({
        name: 'HostError',
        message: expect.stringContaining('"era"'),
      });
      expect(await eraOf({ ...stdioModern, era: 'modern' }, testWorld())).toBe('modern');
    });
  });

  describe('an http server', () => {
    test('is asked without haste', async () => {
      await using web = await startModernHttp();
      const { world } = hearing();
      expect(await eraOf({ type: 'http', url: web.url }, world)).toBe('modern');
      expect(await eraOf({ url: web.url } as ServerEntry, world)).toBe('modern');
    });

    test('that ignores the probe is spoken to as an older one, and not probed again', async () => {
      await using web = await startWeb(({ message }) =>
        message.method === 'server/discover' ? undefined : false,
      );
      const { world } = hearing({ connectTimeoutMs: 3_000 });
      expect(await eraOf({ type: 'http', url: web.url }, world)).toBe('legacy');
      expect(await eraOf({ type: 'http', url: web.url }, world)).toBe('legacy');
      expect(web.seen.filter(({ message }) => message.method === 'server/discover')).toHaveLength(1);
    });
  });

  test('a ws server that ignores the probe is spoken to as an older one on the same socket, and not probed again', async () => {
    const asked: string[] = [];
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => void server.close());
    server.on('connection', (socket) => {
      asked.push('connected');
      socket.on('message', (data) => {
        const { id, method, params } = JSON.parse(String(data));
        asked.push(method);
        if (method !== 'initialize') return;
        const { protocolVersion } = params;
        const result = { protocolVersion, capabilities: {}, serverInfo: { name: 'old', version: '1' } };
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    });
    await new Promise<void>((resolve) => server.once('listening', resolve));
    const entry = { type: 'ws', url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/` } as const;
    const { world } = hearing();
    expect(await eraOf(entry, world)).toBe('legacy');
    expect(await eraOf(entry, world)).toBe('legacy');
    expect(asked.filter((it) => it !== 'notifications/initialized')).toEqual([
      'connected',
      'server/discover',
      'initialize',
      'connected',
      'initialize',
    ]);
  });
});
