import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import {
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { classifyFailure } from '../../../src/mcp/errors/classify-failure.ts';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import { HttpError } from '../../../src/mcp/transports/http/http-error.ts';
import { failure, open } from '../support/attempt.ts';
import { everything } from '../support/servers.ts';
import { startWeb } from '../transports/http/support/web.ts';

describe('explain', () => {
  const explained = (more: object, message = 'it') => Object.assign(new Error(message), more);
  const system = (code: string, more: object = {}) =>
    new TypeError('fetch failed', { cause: explained({ code, ...more }) });
  const status = (code: number, text?: string) =>
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'POST failed', {
      status: code,
      statusText: '',
      text,
    });
  const fault = (
    facts: Partial<ConstructorParameters<typeof HttpError>[1]>,
    message = 'it said what it had to say',
  ) => new HttpError(message, { code: 'http-status', wasSent: true, ...facts });

  type Row = readonly [
    name: string,
    thrown: unknown,
    code: string,
    isTerminal: boolean,
    hasRun: 'no' | 'maybe',
  ];

  const NETWORK: Row[] = [
    ['refused', system('ECONNREFUSED', { syscall: 'connect' }), 'unreachable', true, 'no'],
    ['an unknown host', system('ENOTFOUND'), 'unreachable', true, 'no'],
    ['no name service', system('EAI_AGAIN'), 'unreachable', true, 'no'],
    ['no way to the host', system('EHOSTUNREACH', { syscall: 'connect' }), 'unreachable', true, 'no'],
    ['no network', system('ENETUNREACH', { syscall: 'connect' }), 'unreachable', true, 'no'],
    [
      'no way to the host any more',
      system('EHOSTUNREACH', { syscall: 'read' }),
      'unreachable',
      true,
      'maybe',
    ],
    ['no network any more', system('ENETUNREACH', { syscall: 'write' }), 'unreachable', true, 'maybe'],
    ['connecting times out', system('ETIMEDOUT', { syscall: 'connect' }), 'unreachable', true, 'no'],
    ['reading times out', system('ETIMEDOUT', { syscall: 'read' }), 'unreachable', true, 'maybe'],
    ['the dial takes too long', system('UND_ERR_CONNECT_TIMEOUT'), 'unreachable', true, 'no'],
    ['reset', system('ECONNRESET'), 'closed', true, 'maybe'],
    ['reset before anything was sent', fault({ code: 'ECONNRESET', wasSent: false }), 'closed', true, 'no'],
    ['a broken pipe', explained({ code: 'EPIPE' }), 'closed', true, 'maybe'],
    ['the other side closed', system('UND_ERR_SOCKET'), 'closed', true, 'maybe'],
    ['a stream that is gone', explained({ code: 'ERR_STREAM_DESTROYED' }), 'closed', true, 'maybe'],
    ['a closed connection', new SdkError(SdkErrorCode.ConnectionClosed, 'closed'), 'closed', true, 'maybe'],
    ['no connection', new SdkError(SdkErrorCode.NotConnected, 'none'), 'closed', true, 'maybe'],
    ['a stream that ended', fault({ code: 'stream-ended' }), 'closed', true, 'maybe'],
    [
      'several addresses, none good',
      new AggregateError([explained({ code: 'EHOSTUNREACH' }), explained({ code: 'ECONNREFUSED' })]),
      'unreachable',
      true,
      'no',
    ],
    [
      'wrapped by the client',
      new SdkError(SdkErrorCode.EraNegotiationFailed, 'probe', {}, { cause: system('ECONNREFUSED') }),
      'unreachable',
      true,
      'no',
    ],
    ['no answer in time', new SdkError(SdkErrorCode.RequestTimeout, 'late'), 'timeout', false, 'maybe'],
    ['an untrusted certificate', system('DEPTH_ZERO_SELF_SIGNED_CERT'), 'unreachable', false, 'no'],
    ['an expired certificate', system('CERT_HAS_EXPIRED'), 'unreachable', false, 'no'],
    [
      'the wrong content',
      new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'x', { contentType: 'text/html' }),
      'unreachable',
      false,
      'maybe',
    ],
    ['something of no use', fault({ code: 'bad-answer', status: 200 }), 'unreachable', false, 'maybe'],
    ['too long a message', fault({ code: 'too-large', status: 200 }), 'too-large', false, 'maybe'],
    ['no error at all', 'just text', 'unreachable', false, 'maybe'],
    [
      'a transport that was closed under it',
      new DOMException('aborted', 'AbortError'),
      'closed',
      true,
      'maybe',
    ],
    ['a circle of causes', circle(), 'unreachable', false, 'maybe'],
  ];

  const STATUS: Row[] = [
    ['401', status(401), 'unauthorized', false, 'no'],
    ['403', status(403), 'unreachable', false, 'maybe'],
    ['403 with a challenge', fault({ status: 403, challenge: 'Bearer' }), 'unauthorized', false, 'no'],
    ['a refused sign-in', new UnauthorizedError('no'), 'unauthorized', false, 'no'],
    ['404', status(404), 'unreachable', false, 'no'],
    ['404 with a session', fault({ status: 404, hadSession: true }), 'session-lost', true, 'no'],
    ['410 with a session', fault({ status: 410, hadSession: true }), 'session-lost', true, 'no'],
    ['400 with a session', fault({ status: 400, hadSession: true }), 'session-lost', true, 'no'],
    [
      '400 that speaks of the session',
      fault({ status: 400, hadSession: true }, 'the server answered 400: Unknown Mcp-Session-Id'),
      'session-lost',
      true,
      'no',
    ],
    ['429', status(429), 'unreachable', false, 'no'],
    ['500', status(500), 'unreachable', false, 'maybe'],
    ['502', status(502), 'unreachable', true, 'maybe'],
    ['503', status(503), 'unreachable', true, 'maybe'],
    ['504', status(504), 'unreachable', true, 'maybe'],
    ['a redirect', status(302), 'unreachable', false, 'no'],
  ];

  describe.each([
    ['faults of the network', NETWORK],
    ['statuses', STATUS],
  ])('%s are distinguished', (_, rows) => {
    test.each(rows)('%s', (_name, thrown, code, isTerminal, hasRun) => {
      const told = classifyFailure('srv', thrown);
      expect(told).toMatchObject({
        name: 'HostError',
        code,
        server: 'srv',
        isTerminal,
        hasRun,
        cause: thrown,
      });
      expect(told.message).toMatch(/^MCP server "srv": .{15,}$/);
      expect(told.message).not.toContain('\n');
    });
  });

  describe('the message contains a remedy', () => {
    test.each([
      [status(401), /"headers" or "headersHelper"/],
      [system('DEPTH_ZERO_SELF_SIGNED_CERT'), /tls\.ca/],
      [system('ECONNREFUSED'), /start the server or check "url" \(ECONNREFUSED\)/],
      [status(404), /check "url" and "type"/],
      [
        new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'x', { contentType: 'text/html' }),
        /serves a web page/,
      ],
      [fault({ status: 503, retryAfterMs: 2500 }), /retry in 3 s/],
      [
        fault({ code: 'bad-answer', status: 200 }, 'the server answered 200 with text/html; check "url"'),
        /check "url"$/,
      ],
    ])('%s', (thrown, words) => {
      expect(classifyFailure('srv', thrown).message).toMatch(words);
    });

    test.each([
      [status(403, 'Access is only allowed at localhost:21004'), 'unreachable'],
      [fault({ status: 403, reason: 'Access is only allowed at localhost:21004' }), 'unreachable'],
      [status(401, 'Access is only allowed at localhost:21004'), 'unauthorized'],
      [fault({ status: 500, reason: 'Access is only allowed at localhost:21004' }), 'unreachable'],
    ])('with the reason the server gave: %s', (thrown, code) => {
      const told = classifyFailure('srv', thrown);
      expect(told).toMatchObject({ code });
      expect(told.message).toMatch(/; response: Access is only allowed at localhost:21004$/);
    });

    test('with the reason in one line, masked and bounded, without what drives a terminal', () => {
      const reason = `no\n\u001b[31m for \u009b1m\u202etoken=abcdefgh ${'x'.repeat(10_000)}`;
      const { message } = classifyFailure('srv', fault({ status: 403, reason }));
      expect(message).toContain('response: no [31m for 1mtoken=[redacted] xxx');
      expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(message.length).toBeLessThan(500);
    });

    test('when it may be asked again is kept', () => {
      expect(classifyFailure('srv', fault({ status: 429, retryAfterMs: 1500 }))).toMatchObject({
        retryAfterMs: 1500,
      });
    });
  });

  describe('the server’s own words', () => {
    const own = explained({ code: -32602 }, 'no such tool');

    test('stay what they are, as does what was explained before', () => {
      expect(classifyFailure('srv', own)).toBe(own);
      const known = new HostError('timeout', 'srv', 'late');
      expect(classifyFailure('srv', known)).toBe(known);
    });

    test('are found in the body of a refusal', () => {
      const body = (code: number, message = 'no') =>
        JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } });
      const told = (text: string) => classifyFailure('srv', status(400, text), { hadSession: true });
      expect(classifyFailure('srv', status(400, body(-32602)))).toMatchObject({
        name: 'ServerFault',
        code: -32602,
      });
      expect(told(body(-32602, 'no session of that theatre'))).toMatchObject({ code: -32602 });
      for (const code of [-32000, -32001, -32600]) {
        expect(told(body(code, 'Server not initialized'))).toMatchObject({ code: 'session-lost' });
      }
      expect(told('{"error":"unknown session"}')).toMatchObject({ code: 'session-lost' });
      expect(classifyFailure('srv', status(404, body(-32601)), { hadSession: true })).toMatchObject({
        code: -32601,
      });
    });
  });

  describe('as they are really thrown', () => {
    test('a closed port, at all addresses of its host', async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      for (const host of ['127.0.0.1', 'localhost']) {
        const thrown = await rejected(fetch(`http://${host}:${port}/`));
        expect(classifyFailure('srv', thrown)).toMatchObject({
          code: 'unreachable',
          isTerminal: true,
          hasRun: 'no',
        });
      }
    });

    test('a connection that breaks midway', async () => {
      await using web = await serve((request) => request.socket.destroy());
      expect(classifyFailure('srv', await rejected(fetch(web.url)))).toMatchObject({
        code: 'closed',
        isTerminal: true,
      });
    });

    test.each([
      [401, 'unauthorized'],
      [404, 'unreachable'],
      [503, 'unreachable'],
    ])('an answer of %d through the official transport', async (code, told) => {
      await using web = await serve((_, answer) => answer.writeHead(code).end('no'));
      const transport = new StreamableHTTPClientTransport(new URL(web.url));
      await transport.start();
      const thrown = await rejected(transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' }));
      await transport.close();
      expect(classifyFailure('srv', thrown)).toMatchObject({ code: told });
      expect(classifyFailure('srv', thrown).message).toMatch(
        code === 401 ? /requires authentication; sign in with: toolplane mcp login / : `HTTP ${code}`,
      );
    });
  });

  function circle(): Error {
    const inner = new Error('inner');
    inner.cause = new Error('outer', { cause: inner });
    return inner;
  }

  const rejected = (work: Promise<unknown>) =>
    work.then(
      () => expect.unreachable('it worked'),
      (thrown: unknown) => thrown,
    );

  async function serve(answer: RequestListener) {
    const server = createHttpServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }
});

describe('plain messages', () => {
  const url = 'http://127.0.0.1:9/';

  test.each<[string, ServerEntry, string]>([
    [
      'a header that can be none',
      { type: 'http', url, headers: { 'a b': 'x' } },
      '"headers" contains "a b", which is not a valid header name',
    ],
    [
      'a header of two lines, whose value is not told',
      { type: 'http', url, headers: { key: 'se\ncret' } },
      'the value of "key" in "headers" must be one line',
    ],
    [
      'a helper that fails, without what it printed, which may be secret',
      { type: 'http', url, headersHelper: 'echo first >&2; echo no vault token=abcdefgh >&2; exit 4' },
      'its "headersHelper" exited with code 4; run it by hand to see why',
    ],
    [
      'a whole line where a command belongs',
      { command: 'no-such-python server.py' },
      'command not found: no-such-python server.py; set "command" to its first word and move the rest to "args"',
    ],
    [
      'a program that tells its usage on stdout and ends',
      { command: 'sh', args: ['-c', 'echo "usage: serve --config FILE"; exit 2'] },
      'its process exited before it was ready; stderr: (stdout) usage: serve --config FILE | (exited with code 2); run its command by hand to see more; servers inherit only a few environment variables, so pass others with "env" in its entry (option -e NAME=\'${NAME}\' of toolplane mcp add)',
    ],
  ])('%s', async (_, entry, fault) => {
    expect(await failure(entry)).toMatchObject({ message: `MCP server "srv": ${fault}` });
  });

  describe('a server that answers 403', () => {
    const REASON = 'Access is only allowed at localhost:21004, not with s3cret-value';
    const KINDS = ['http', 'sse', 'ws', undefined] as const;
    const entryOf = (type: (typeof KINDS)[number], port: number) =>
      ({
        ...(type && { type }),
        url: `${type === 'ws' ? 'ws' : 'http'}://127.0.0.1:${port}/mcp`,
        headers: { 'X-Key': 's3cret-value' },
      }) as ServerEntry;

    test.each(KINDS)('is reported with its reason, without secrets (%s)', async (type) => {
      await using web = await startWeb((_, response) =>
        response.writeHead(403, { 'content-type': 'text/plain' }).end(REASON),
      );
      expect(await failure(entryOf(type, web.port))).toMatchObject({
        code: 'unreachable',
        message:
          'MCP server "srv": the server refused the request (HTTP 403); check "url", and "headers" if the server requires credentials; response: Access is only allowed at localhost:21004, not with [redacted]',
      });
    });

    test.each(KINDS)('with a web page is reported with its text (%s)', async (type) => {
      const page = `<html><head><title>Forbidden</title></head><body><pre>${REASON}</pre></body></html>`;
      await using web = await startWeb((_, response) =>
        response.writeHead(403, { 'content-type': 'text/html; charset=utf-8' }).end(page),
      );
      expect(await failure(entryOf(type, web.port))).toMatchObject({
        message: expect.stringMatching(
          /; response: Forbidden Access is only allowed at .* with \[redacted\]$/,
        ),
      });
    });

    test.each(KINDS)('with a challenge wants authorization (%s)', async (type) => {
      await using web = await startWeb((_, response) =>
        response
          .writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' })
          .end('more scopes'),
      );
      expect(await failure(entryOf(type, web.port))).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('response: more scopes'),
      });
    });
  });

  test.each([
    ['when it opens', (socket: WebSocket) => socket.close(1011, 'not today')],
    [
      'at the first message',
      (socket: WebSocket) => socket.once('message', () => socket.close(1011, 'not today')),
    ],
  ])('a WebSocket that the server closes %s, with the reason it gave', async (_, close) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => void server.close());
    server.on('connection', (socket) => void close(socket));
    await new Promise<void>((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await failure({ type: 'ws', url: `ws://127.0.0.1:${port}/` })).toMatchObject({
      code: 'closed',
      message:
        'MCP server "srv": the server closed the socket with code 1011: not today; check that the server is still running',
    });
  });

  test('a port that speaks TLS or another protocol instead of HTTP', async () => {
    const server = createServer((socket) =>
      socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70])).on('error', () => {}),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await failure({ type: 'http', url: `http://127.0.0.1:${port}/` })).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(
        'the server does not respond with HTTP on this port; check "url", its port',
      ),
    });
    server.close();
  });

  test.each([
    ['a cycle', () => ({ message: cycle() })],
    ['a BigInt', () => ({ message: 5n })],
  ])('arguments that are not JSON: %s; the connection stays open', async (_, args) => {
    await using opened = await open(everything);
    await expect(opened.connection.callTool('echo', args() as never)).rejects.toMatchObject({
      code: 'bad-config',
      hasRun: 'no',
      message:
        'MCP server "srv": the request cannot be serialized as JSON (a cycle or a BigInt); pass plain data',
    });
    expect(await opened.connection.callTool('echo', { message: 'hi' })).toMatchObject({
      content: [{ text: 'Echo: hi' }],
    });
  });

  function cycle(): object {
    const value: Record<string, unknown> = {};
    value.self = value;
    return value;
  }
});
