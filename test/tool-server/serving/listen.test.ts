import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createHost } from '../../../src/entry/host.ts';
import { servedServer, toolServer } from '../../../src/tool-server/sdk-server.ts';
import { listenHttp } from '../../../src/tool-server/serving/listen.ts';
import { gate } from '../../support/gate.ts';

const calc = () =>
  toolServer('calc', { version: '2.0.0', instructions: 'Add.', logging: true })
    .tool('add', 'Adds', { a: z.number(), b: z.number() }, ({ a, b }) => a + b)
    .tool('steps', 'Reports progress', {}, (_args, ctx) => {
      ctx.log('warning', 'careful');
      ctx.progress(1, { total: 2 });
      return 'done';
    });

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

type Reply = { status: number; headers: Record<string, unknown>; body: string };

/** A request with any header, `Host` included, which fetch() does not allow. */
function send(url: string, options: { method?: string; headers?: object; body?: unknown } = {}) {
  const { method = 'POST', headers = {}, body } = options;
  return new Promise<Reply>((resolve, reject) => {
    const sent = request(url, { method, headers: { ...JSON_HEADERS, ...headers } }, async (response) => {
      const { statusCode = 0, headers: received } = response;
      resolve({ status: statusCode, headers: received, body: await text(response) });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const stateless = (url: string, method: string, params: object = {}, headers: object = {}, id = 1) =>
  send(url, {
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...headers },
    body: { jsonrpc: '2.0', id, method, params: { _meta: META, ...params } },
  });

async function openSession(url: string): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const { headers } = await send(url, { body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
  return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
}

const call = (name: string, args: object = {}, id: string | number = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('official clients', () => {
  const modes = ['legacy', 'auto'] as const;

  test.each(modes)('the v2 client in mode %s lists tools, calls them and gets progress', async (mode) => {
    await using server = await calc().listen();
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['add', 'steps']);
    const added = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
    expect(added.content).toEqual([{ type: 'text', text: '5' }]);
    const progress: unknown[] = [];
    await client.callTool({ name: 'steps' }, { onprogress: (it) => progress.push(it) });
    expect(progress).toEqual([{ progress: 1, total: 2 }]);
    await client.close();
  });

  test.each(modes)('the v2 client in mode %s is notified of a new tool', async (mode) => {
    const tools = calc();
    await using server = await tools.listen();
    const changed = Promise.withResolvers<unknown>();
    const client = new Client(
      { name: 'test', version: '1' },
      {
        versionNegotiation: { mode },
        listChanged: { tools: { onChanged: (_error, list) => changed.resolve(list), debounceMs: 0 } },
      },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const adding = setInterval(() => tools.tool(`late_${performance.now()}`, '', {}, () => 1), 50);
    expect(await changed.promise).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'add' })]));
    clearInterval(adding);
    await client.close();
  });

  test('the v1 client works and ends its session', async () => {
    await using server = await calc().listen();
    const transport = new TransportV1(new URL(server.url));
    const client = new ClientV1({ name: 'test', version: '1' });
    await client.connect(transport as never);
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } })).toMatchObject({
      content: [{ text: '2' }],
    });
    await transport.terminateSession();
    await client.close();
  });

  test('createHost() connects', async () => {
    await using server = await calc().listen();
    await using host = createHost({ mcpServers: { calc: { type: 'http', url: server.url } } });
    await host.ready();
    const { content } = await host.callTool('calc', 'add', { a: 20, b: 22 });
    expect(content).toEqual([{ type: 'text', text: '42' }]);
  });

  test.each(modes)('an McpServer of the MCP SDK is served, mode %s', async (mode) => {
    const foreign = new McpServer({ name: 'foreign', version: '3' });
    foreign.registerTool('hi', { inputSchema: z.object({}) }, async () => ({
      content: [{ type: 'text', text: 'hi' }],
    }));
    await using server = await listenHttp(servedServer({ instance: foreign as never }, 'foreign'));
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    for (const _ of [1, 2]) {
      expect((await client.callTool({ name: 'hi' })).content).toEqual([{ type: 'text', text: 'hi' }]);
    }
    await client.close();
  });
});

describe('addresses and bodies', () => {
  const cases: [string, object, number][] = [
    ['a loopback host', { host: 'localhost:1' }, 400],
    ['an allowed host', { host: 'tools.example.com' }, 400],
    ['a foreign host', { host: 'evil.example.com' }, 403],
    ['a host that starts like a loopback one', { host: 'localhost.evil.example.com' }, 403],
    ['a loopback origin', { origin: 'http://localhost:6274' }, 400],
    ['an allowed origin', { origin: 'https://app.example.com' }, 400],
    ['a foreign origin', { origin: 'https://evil.example.com' }, 403],
    ['the origin of a file or sandbox', { origin: 'null' }, 403],
    ['a body that is no JSON by its type', { 'content-type': 'text/plain' }, 415],
    ['a client that accepts only pages', { accept: 'text/html' }, 406],
    ['a client that accepts a range of types', { accept: 'application/*, text/*;q=0.5' }, 400],
    ['a client that names types in upper case', { accept: 'Application/JSON, Text/Event-Stream' }, 400],
    ['a client that accepts everything, with a weight', { accept: 'text/html, */*; q=0.1' }, 400],
    ['a client that excludes JSON', { accept: 'application/json;q=0, */*' }, 406],
    ['a type that only starts like JSON', { accept: 'application/json-seq' }, 406],
  ];
  test.each(cases)('%s', async (_name, headers, status) => {
    const options = { allowedHosts: ['tools.example.com'], allowedOrigins: ['https://app.example.com'] };
    await using server = await calc().listen(options);
    expect((await send(server.url, { headers, body: call('add') })).status).toBe(status);
  });

  test('a body over the limit, announced or not, is refused', async () => {
    await using server = await calc().listen({ maxBodyBytes: 100 });
    const body = JSON.stringify(call('add', { padding: 'x'.repeat(200) }));
    expect((await send(server.url, { body })).status).toBe(413);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await send(server.url, { body, headers: chunked })).status).toBe(413);
  });

  test('invalid JSON, a batch, another path and another method are refused', async () => {
    await using server = await calc().listen({ path: '/tools' });
    expect(server.url).toMatch(/\/tools$/);
    expect(await send(server.url, { body: '{' })).toMatchObject({ status: 400 });
    expect(await send(server.url, { body: [call('add')] })).toMatchObject({ status: 400 });
    expect(await send(server.url.replace('/tools', '/mcp'), { body: '{}' })).toMatchObject({ status: 404 });
    expect(await send(server.url, { method: 'PUT' })).toMatchObject({ status: 405 });
    expect(await send(server.url, { method: 'GET' })).toMatchObject({ status: 405 });
  });

  const malformed: [string, unknown, string][] = [
    ['null', 'null', 'a JSON-RPC message must be an object'],
    ['a number', '5', 'a JSON-RPC message must be an object'],
    [
      'initialize with params that are no object',
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: 5 },
      'the params of initialize must be an object',
    ],
  ];
  test.each(malformed)('%s is malformed', async (_name, body, message) => {
    await using server = await calc().listen();
    const reply = await send(server.url, { body });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body).error).toEqual({ code: -32600, message });
  });

  test('an invalid option and a port in use are reported', async () => {
    await expect(calc().listen({ ports: 1 } as never)).rejects.toMatchObject({ code: 'bad-option' });
    await using server = await calc().listen();
    await expect(calc().listen({ port: server.port })).rejects.toMatchObject({ code: 'serve-failed' });
  });
});

describe('sessions', () => {
  test('requests need the session that initialize created; DELETE ends it', async () => {
    await using server = await calc().listen();
    const headers = await openSession(server.url);
    expect(await send(server.url, { body: call('add') })).toMatchObject({ status: 400 });
    const body = call('add', { a: 1, b: 2 });
    expect(JSON.parse((await send(server.url, { headers, body })).body).result.content[0].text).toBe('3');
    expect(
      await send(server.url, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } }),
    ).toMatchObject({ status: 202 });
    expect((await send(server.url, { method: 'DELETE', headers })).status).toBe(204);
    expect((await send(server.url, { headers, body })).status).toBe(404);
  });

  test('a version that the server does not support is refused with the supported ones', async () => {
    await using server = await calc().listen();
    const headers = { ...(await openSession(server.url)), 'mcp-protocol-version': '1999-01-01' };
    const message =
      'the header MCP-Protocol-Version has the unsupported value "1999-01-01" (supported: 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07)';
    for (const method of ['POST', 'GET', 'DELETE']) {
      const reply = await send(server.url, {
        method,
        headers,
        ...(method === 'POST' && { body: call('add') }),
      });
      expect([reply.status, JSON.parse(reply.body).error]).toEqual([400, { code: -32000, message }]);
    }
  });

  test('the session that was idle for longest makes room for a new one', async () => {
    await using server = await calc().listen({ maxSessions: 1 });
    const first = await openSession(server.url);
    const second = await openSession(server.url);
    const body = call('add', { a: 1, b: 2 });
    expect((await send(server.url, { headers: first, body })).status).toBe(404);
    expect((await send(server.url, { headers: second, body })).status).toBe(200);
  });

  test('a client resumes the stream of a call after the connection was cut', async () => {
    const door = gate();
    const slow = toolServer('slow').tool('wait', '', {}, async (_args, ctx) => {
      ctx.progress(1);
      await door.pass();
      ctx.progress(2);
      return 'late';
    });
    await using server = await slow.listen();
    const headers = await openSession(server.url);
    const body = call('wait');
    const params = { ...body.params, _meta: { progressToken: 'p' } };
    const cut = Promise.withResolvers<string>();
    const sent = request(
      server.url,
      { method: 'POST', headers: { ...JSON_HEADERS, ...headers } },
      (response) => {
        let received = '';
        response.on('error', () => {});
        response.on('data', (part) => {
          received += part;
          const id = /id: (\d+-1)\n/.exec(received)?.[1];
          if (id === undefined) return;
          sent.destroy();
          cut.resolve(id);
        });
      },
    );
    sent.on('error', () => {});
    sent.end(JSON.stringify({ ...body, params }));
    const last = await cut.promise;
    await door.reached;
    door.open();
    const resumed = await send(server.url, { method: 'GET', headers: { ...headers, 'last-event-id': last } });
    const events = [...resumed.body.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string));
    expect(events).toMatchObject([
      { method: 'notifications/progress', params: { progress: 2, progressToken: 'p' } },
      { id: 1, result: { content: [{ text: 'late' }] } },
    ]);
    const unknown = { ...headers, 'last-event-id': '99-1' };
    expect((await send(server.url, { method: 'GET', headers: unknown })).status).toBe(404);
  });

  test('close() answers running calls and ends streams', async () => {
    const door = gate();
    const slow = toolServer('slow').tool('wait', '', {}, () => door.pass());
    const server = await slow.listen();
    const headers = await openSession(server.url);
    const reply = send(server.url, { headers, body: call('wait') });
    await door.reached;
    await server.close();
    expect(JSON.parse((await reply).body).error.message).toBe("server 'slow' is closed");
    door.open();
  });
});

describe('stateless requests', () => {
  test('two clients may use the same id at once', async () => {
    await using server = await calc().listen();
    const add = (a: number) =>
      stateless(server.url, 'tools/call', { name: 'add', arguments: { a, b: 0 } }, { 'mcp-name': 'add' }, 7);
    const replies = (await Promise.all([add(1), add(2)])).map((it) => JSON.parse(it.body));
    expect(replies).toMatchObject([
      { id: 7, result: { resultType: 'complete', content: [{ text: '1' }] } },
      { id: 7, result: { resultType: 'complete', content: [{ text: '2' }] } },
    ]);
  });

  test('server/discover describes the server', async () => {
    await using server = await calc().listen();
    expect(JSON.parse((await stateless(server.url, 'server/discover')).body).result).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, logging: {} },
      instructions: 'Add.',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'calc', version: '2.0.0' } },
    });
  });

  test('logs and progress precede the result in a stream only if the request asks for them', async () => {
    await using server = await calc().listen();
    const steps = (meta: object) =>
      stateless(
        server.url,
        'tools/call',
        { name: 'steps', _meta: { ...META, ...meta } },
        { 'mcp-name': 'steps' },
      );
    expect((await steps({})).headers['content-type']).toBe('application/json');
    const streamed = await steps({ progressToken: 1, 'io.modelcontextprotocol/logLevel': 'info' });
    expect(streamed.headers['content-type']).toBe('text/event-stream');
    const methods = [...streamed.body.matchAll(/"method":"([^"]+)"/g)].map(([, method]) => method);
    expect(methods).toEqual(['notifications/message', 'notifications/progress']);
  });

  const refused: [string, string, object, object, number, number][] = [
    ['a removed method', 'ping', {}, {}, 404, -32601],
    ['an unknown method', 'nothing', {}, {}, 404, -32601],
    ['no _meta', 'tools/list', { _meta: undefined }, {}, 400, -32602],
    ['another method in the header', 'tools/list', {}, { 'mcp-method': 'tools/call' }, 400, -32020],
    ['another name in the header', 'tools/call', { name: 'add' }, { 'mcp-name': 'sub' }, 400, -32020],
    ['no name in the header', 'tools/call', { name: 'add' }, {}, 400, -32020],
    [
      'an unknown revision',
      'tools/list',
      { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } },
      { 'mcp-protocol-version': '2030-01-01' },
      400,
      -32022,
    ],
  ];
  test.each(refused)('%s is refused', async (_name, method, params, headers, status, code) => {
    await using server = await calc().listen();
    const reply = await stateless(server.url, method, params, headers);
    expect([reply.status, JSON.parse(reply.body).error.code]).toEqual([status, code]);
  });

  test('a header must repeat the argument that the schema maps to it', async () => {
    const routed = toolServer('routed').tool(
      'go',
      '',
      { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
      () => 'gone',
    );
    await using server = await routed.listen();
    const go = async (header: string | undefined) => {
      const headers = { 'mcp-name': 'go', ...(header !== undefined && { 'mcp-param-region': header }) };
      const params = { name: 'go', arguments: { region: 'Hello' } };
      return (await stateless(server.url, 'tools/call', params, headers)).status;
    };
    expect(await go('Hello')).toBe(200);
    expect(await go('=?base64?SGVsbG8=?=')).toBe(200);
    expect(await go('=?base64?SGVsbG8?=')).toBe(400);
    expect(await go('Other')).toBe(400);
    expect(await go(undefined)).toBe(400);
  });

  const unprintable: [string, string][] = [
    ['an object without a text', '{"toString":1,"valueOf":1}'],
    ['a deeply nested list', `${'['.repeat(400)}${']'.repeat(400)}`],
    ['a list of the name', '["go"]'],
  ];
  test.each(unprintable)('%s as a name or argument matches no header', async (_name, value) => {
    const properties = { region: { 'x-mcp-header': 'Region' } };
    const routed = toolServer('routed').tool('go', '', { type: 'object', properties }, () => 'gone');
    await using server = await routed.listen();
    const post = (params: string, name: string) => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":${JSON.stringify(META)},${params}}}`;
      const names = { 'mcp-method': 'tools/call', 'mcp-name': name, 'mcp-param-region': 'go' };
      return send(server.url, { headers: { 'mcp-protocol-version': '2026-07-28', ...names }, body });
    };
    for (const params of [`"name":${value}`, `"name":"go","arguments":{"region":${value}}`]) {
      const reply = await post(params, 'go');
      expect([reply.status, JSON.parse(reply.body).error.code]).toEqual([400, -32020]);
    }
  });

  test('closing the response cancels the call', async () => {
    const door = gate();
    const aborted = Promise.withResolvers<void>();
    const slow = toolServer('slow').tool('wait', '', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.resolve());
      await door.pass();
    });
    await using server = await slow.listen();
    const controller = new AbortController();
    const reply = fetch(server.url, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        ...JSON_HEADERS,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'wait',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'wait', _meta: META },
      }),
    });
    reply.catch(() => {});
    await door.reached;
    controller.abort();
    await aborted.promise;
    door.open();
  });
});

describe('failures', () => {
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };

  /** A server of another package whose factory throws at first. */
  function failing(failures: number) {
    let left = failures;
    const instance = () => {
      if (left-- > 0) throw new Error('no database');
      return new McpServer({ name: 'late', version: '1' }) as never;
    };
    return listenHttp(servedServer({ instance }, 'late'));
  }
  const internal = { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error: no database' } };

  test('a factory that throws fails the request, and the next one is served', async () => {
    await using server = await failing(2);
    for (const post of [
      () => stateless(server.url, 'server/discover'),
      () => send(server.url, { body: initialize }),
    ]) {
      const reply = await post();
      expect([reply.status, JSON.parse(reply.body)]).toEqual([500, internal]);
    }
    expect(await stateless(server.url, 'server/discover')).toMatchObject({ status: 200 });
    expect(await send(server.url, { body: initialize })).toMatchObject({ status: 200 });
  });

  test('a factory that throws for the session of a single request fails only that request', async () => {
    let opened = 0;
    const instance = () => {
      if (++opened === 2) throw new Error('no database');
      return new McpServer({ name: 'late', version: '1' }) as never;
    };
    await using server = await listenHttp(servedServer({ instance }, 'late'));
    const reply = await stateless(server.url, 'server/discover');
    expect([reply.status, JSON.parse(reply.body)]).toEqual([500, internal]);
    expect(await stateless(server.url, 'server/discover')).toMatchObject({ status: 200 });
  });

  const rejecting = () => Promise.reject(new Error('no database'));
  const throwing = () => {
    throw new Error('no database');
  };
  const broken: [string, () => Promise<never>, (() => never) | undefined][] = [
    ['rejects', rejecting, undefined],
    ['throws', throwing, undefined],
    ['throws without a promise', rejecting, throwing],
  ];
  test.each(broken)('a session that %s is answered with an internal error', async (_name, receive, take) => {
    const session = { receive, close: throwing, ...(take && { take }) };
    const served = { name: 'broken', open: () => session, find: () => undefined, needsHandshake: true };
    await using server = await listenHttp(served);
    for (const reply of [
      await stateless(server.url, 'tools/list'),
      await stateless(server.url, 'tools/list'),
      await send(server.url, { body: initialize }),
    ]) {
      expect([reply.status, JSON.parse(reply.body)]).toEqual([500, internal]);
    }
  });

  test('concurrent first requests all name the server', async () => {
    const instance = () => new McpServer({ name: 'late', version: '1' }) as never;
    await using server = await listenHttp(servedServer({ instance }, 'late'));
    const replies = await Promise.all([1, 2, 3].map(() => stateless(server.url, 'server/discover')));
    for (const { body } of replies) {
      const { _meta: meta } = JSON.parse(body).result;
      expect(meta['io.modelcontextprotocol/serverInfo']).toEqual({ name: 'late', version: '1' });
    }
  });
});

describe('any request', () => {
  const versions = ['2026-07-28', '2025-11-25', '1999-01-01', '', 'é'];
  const methods = [
    'initialize',
    'tools/call',
    'tools/list',
    'resources/read',
    'prompts/get',
    'server/discover',
  ];
  const rare = [
    'subscriptions/listen',
    'logging/setLevel',
    'notifications/cancelled',
    'constructor',
    '__proto__',
  ];
  const method = fc.constantFrom(...methods, ...rare);
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>('add', { toString: 1, valueOf: 1 }, ['add'], null, -1, 'http://x'),
  );
  const meta = fc.record(
    {
      'io.modelcontextprotocol/protocolVersion': fc.oneof(fc.constantFrom<unknown>(...versions), value),
      'io.modelcontextprotocol/clientCapabilities': fc.oneof(fc.constant<unknown>({}), value),
      'io.modelcontextprotocol/clientInfo': value,
      'io.modelcontextprotocol/logLevel': fc.constantFrom<unknown>('debug', 5, {}),
      progressToken: value,
    },
    { requiredKeys: [] },
  );
  const params = fc.record(
    {
      _meta: fc.oneof(fc.constant<unknown>(META), meta, value),
      name: value,
      uri: value,
      arguments: fc.oneof(value, fc.record({ a: value, b: value }, { requiredKeys: [] })),
      notifications: fc.oneof(
        value,
        fc.record({ toolsListChanged: fc.constant(true), resourceSubscriptions: value }),
      ),
      protocolVersion: value,
      requestId: value,
    },
    { requiredKeys: [] },
  );
  const message = fc.record(
    {
      jsonrpc: value,
      id: fc.oneof(fc.integer(), value),
      method: fc.oneof(method, value),
      params: fc.oneof(params, value),
      result: value,
    },
    { requiredKeys: ['method'] },
  );
  const text = fc.string({ unit: fc.constantFrom(...'add=?base64*/;,q01 '), maxLength: 12 });
  const headers = fc.record(
    {
      'mcp-protocol-version': fc.constantFrom(...versions),
      'mcp-method': method,
      'mcp-name': fc.oneof(fc.constantFrom('add', 'x'), text),
      'mcp-param-a': text,
      accept: fc.oneof(fc.constantFrom('*/*', 'application/json'), text),
      'last-event-id': fc.constantFrom('0-0', '1-0', '99-99', 'x'),
      'content-type': fc.constantFrom('application/json', 'text/plain'),
      'mcp-session-id': fc.constantFrom('open', 'unknown'),
      authorization: text,
    },
    { requiredKeys: [] },
  );
  const anyRequest = fc.record({
    verb: fc.constantFrom('POST', 'POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT'),
    headers,
    body: fc.oneof(
      message.map((it) => JSON.stringify(it)),
      fc.json(),
      fc.string(),
    ),
  });

  /** The status of the response, whose body may be an endless stream. */
  function statusOf(url: string, options: { method: string; headers: object; body: string }) {
    const { method: verb, body } = options;
    return new Promise<number>((resolve, reject) => {
      const sent = request(url, { method: verb, headers: { ...JSON_HEADERS, ...options.headers } });
      sent.on('response', (response: IncomingMessage) => {
        resolve(response.statusCode ?? 0);
        response.on('error', () => {});
        response.destroy();
      });
      sent.on('error', reject);
      sent.setTimeout(5000, () => sent.destroy(new Error(`no response to ${JSON.stringify(options)}`)));
      sent.end(verb === 'POST' ? body : undefined);
    });
  }

  const properties = { a: { 'x-mcp-header': 'A' }, b: {} };
  const add = () =>
    toolServer('calc', { logging: true }).tool('add', '', { type: 'object', properties }, () => 1);
  const servers: [string, () => Parameters<typeof servedServer>[0]][] = [
    ['a tool server', add],
    [
      'a tool server whose McpServer is used',
      () => {
        const server = add();
        server.instance.registerTool('x', {}, async () => ({ content: [] }));
        return server;
      },
    ],
    [
      'a factory',
      () => ({
        instance: () => {
          const server = new McpServer({ name: 'made', version: '1' });
          server.registerTool('add', {}, async () => ({ content: [] }));
          return server as never;
        },
      }),
    ],
  ];
  test.each(servers)('to %s is answered', { timeout: 60_000 }, async (_name, make) => {
    await using server = await listenHttp(servedServer(make(), 'any'));
    let open = await openSession(server.url);
    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ verb, headers: sent, body }) => {
        const session = sent['mcp-session-id'] === 'open' ? { 'mcp-session-id': open['mcp-session-id'] } : {};
        const status = await statusOf(server.url, { method: verb, headers: { ...sent, ...session }, body });
        expect(status).toBeGreaterThanOrEqual(200);
        expect(status).toBeLessThan(500);
        if (verb === 'DELETE' && status === 204) open = await openSession(server.url);
      }),
      { numRuns: 300 },
    );
    expect((await stateless(server.url, 'server/discover')).status).toBe(200);
  });
});
