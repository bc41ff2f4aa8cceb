import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createHost, type Host, type HostServerEntry } from '../../../src/entry/host.ts';
import {
  afterLoss,
  isFlapping,
  NO_HISTORY,
  RETRY,
  retryDelay,
} from '../../../src/mcp/servers/retry-policy.ts';

describe('retry', () => {
  const failed = (failures: number) => ({ ...NO_HISTORY, failures });

  test.each([
    [1, 500],
    [2, 1_000],
    [3, 2_000],
    [6, 16_000],
    [7, 30_000],
    [2_000, 30_000],
  ])('after %i failures the delay is at most %i ms, and at least a quarter of that', (failures, longest) => {
    expect(retryDelay(failed(failures), 0, RETRY)).toBe(longest / 4);
    expect(retryDelay(failed(failures), 0.5, RETRY)).toBe(longest / 2);
    expect(retryDelay(failed(failures), 0.9999, RETRY)).toBeLessThanOrEqual(longest);
  });

  test('delays are never negative, infinite or above the maximum for flapping servers', () => {
    const past = fc.record({
      hasConnected: fc.boolean(),
      failures: fc.nat(5_000),
      shortConnections: fc.nat(5_000),
    });
    fc.assert(
      fc.property(past, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (it, luck) => {
        const wait = retryDelay(it, luck, RETRY);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(isFlapping(it) ? 300_000 : 30_000);
      }),
    );
  });

  test.each([
    [
      'a life of seconds counts as one more failure',
      9_999,
      { hasConnected: true, failures: 4, shortConnections: 3 },
    ],
    ['ten seconds are healthy, if short', 10_000, { hasConnected: true, failures: 1, shortConnections: 3 }],
    ['a minute is a life', 60_000, { hasConnected: true, failures: 1, shortConnections: 0 }],
  ])('%s', (_, livedMs, expected) => {
    expect(afterLoss({ hasConnected: true, failures: 3, shortConnections: 2 }, livedMs)).toEqual(expected);
  });
});

describe('storms', () => {
  const WINDOW_MS = 3_000;
  const MAX_ATTEMPTS = 8;

  /** A server that fails, and how often it was connected to. */
  type Failing = { readonly entry: HostServerEntry; attempts(): number };

  /** A process that appends a byte to a file when it starts, and then runs the given code. */
  function failingProcess(code: string): Failing {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-storm-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, 'starts');
    const start = `require('node:fs').appendFileSync(${JSON.stringify(file)}, 'x');`;
    return {
      entry: { command: process.execPath, args: ['-e', start + code] },
      attempts: () => {
        try {
          return readFileSync(file).length;
        } catch {
          return 0;
        }
      },
    };
  }

  /** A process that speaks the protocol; `calls` is the code that handles `tools/call`, `listed` runs after the first list. */
  function handshake({ calls = '', listed = '' }): string {
    return `
    const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    const fail = (id) => console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === 'initialize') {
        say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
      } else if (method === 'tools/list') {
        say(id, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
        ${listed}
      } else if (method === 'tools/call') { ${calls} }
      else if (id !== undefined) fail(id);
    });`;
  }

  /** An HTTP server that answers every request in the same way and counts the requests. */
  async function failingHttp(
    type: 'http' | 'sse',
    answer: (response: ServerResponse) => void,
  ): Promise<Failing> {
    let requests = 0;
    const server = createServer((request, response) => {
      requests++;
      request.resume();
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    return { entry: { type, url }, attempts: () => requests };
  }

  async function failingSocket(): Promise<Failing> {
    let connections = 0;
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => {
      connections++;
      socket.close(1011, 'not today');
    });
    await new Promise<void>((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return { entry: { type: 'ws', url }, attempts: () => connections };
  }

  /** A TCP server that closes each connection at once. */
  async function hangsUp(): Promise<Failing> {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    return { entry: { type: 'http', url }, attempts: () => connections };
  }

  const FAILING: Record<string, () => Failing | Promise<Failing>> = {
    'a process that dies at start': () => failingProcess('process.exit(1)'),
    'a process that dies once it has read something': () =>
      failingProcess("process.stdin.once('data', () => process.exit(1))"),
    'a process that dies right after the handshake': () =>
      failingProcess(handshake({ listed: 'setTimeout(() => process.exit(1), 10);' })),
    'a process that dies of each call': () => failingProcess(handshake({ calls: 'process.exit(1);' })),
    'HTTP 500': () => failingHttp('http', (it) => void it.writeHead(500).end('broken')),
    'HTTP 503 with Retry-After: 0': () =>
      failingHttp('http', (it) => void it.writeHead(503, { 'retry-after': '0' }).end()),
    'HTTP 429 with Retry-After: 0': () =>
      failingHttp('http', (it) => void it.writeHead(429, { 'retry-after': '0' }).end()),
    'an HTTP server that hangs up': hangsUp,
    'an SSE stream that ends early': () =>
      failingHttp(
        'sse',
        (it) => void it.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hi\n\n'),
      ),
    'an editor whose stream ends early': async () => {
      const { entry, attempts } = await failingHttp(
        'sse',
        (it) => void it.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hi\n\n'),
      );
      return { entry: { ...entry, type: 'sse-ide', authToken: 'x' } as HostServerEntry, attempts };
    },
    'a WebSocket that closes on open': failingSocket,
  };

  /** All requests that a program may send to a server. */
  const REQUESTS: readonly ((host: Host, server: string) => Promise<unknown>)[] = [
    (host, server) => host.callTool(server, 'echo', {}, LIMIT),
    (host) => host.listTools(),
    (host, server) => host.listResources(server, LIMIT),
    (host, server) => host.readResource(server, 'x://y', LIMIT),
    (host, server) => host.subscribe(server, 'x://y', () => {}, LIMIT),
    (host, server) => host.getPrompt(server, 'p', {}, LIMIT),
    (host, server) => host.complete(server, { prompt: 'p' }, { name: 'a', value: '' }, {}, LIMIT),
  ];
  const LIMIT = { timeoutMs: 1_000 };

  describe('a server that fails is connected to at most 8 times in 3 s', () => {
    test.each<[string, typeof REQUESTS]>([
      ['whatever is asked of it', REQUESTS],
      ['also if it is reconnected in a loop', [...REQUESTS, (host, server) => host.reconnect(server)]],
    ])('%s', async (_, requests) => {
      const failing = await Promise.all(
        Object.entries(FAILING).map(async ([name, start]) => [name, await start()] as const),
      );
      const entries = failing.map(([name, { entry }]) => [name, entry] as const);
      await using host = createHost({ mcpServers: Object.fromEntries(entries) });
      const drive = async (server: string) => {
        for (const over = performance.now() + WINDOW_MS; performance.now() < over; await sleep(50)) {
          const asked = requests.map((request) => request(host, server));
          await Promise.race([Promise.allSettled(asked), sleep(over - performance.now())]);
        }
      };
      // A busy machine may take long to start the first processes.
      await host.ready();
      const before = failing.map(([, { attempts }]) => attempts());
      await Promise.all(failing.map(([name]) => drive(name)));
      const attempts = failing.map(([name, server], n) => ({
        name,
        total: server.attempts(),
        inWindow: server.attempts() - (before[n] ?? 0),
      }));
      expect(attempts.filter(({ total }) => total === 0)).toEqual([]);
      expect(attempts.filter(({ inWindow }) => inWindow > MAX_ATTEMPTS)).toEqual([]);
    });
  });
});
