import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ServerEntry } from '../../../src/mcp/connection/world.ts';
import { startWeb } from '../transports/http/web.ts';
import { failure, open } from './attempt.ts';
import { everything } from './servers.ts';

const url = 'http://127.0.0.1:9/';

test.each<[string, ServerEntry, string]>([
  [
    'a header that can be none',
    { type: 'http', url, headers: { 'a b': 'x' } },
    '"headers" has the name "a b", which no header can have',
  ],
  [
    'a header of two lines, whose value is not told',
    { type: 'http', url, headers: { key: 'se\ncret' } },
    'the value of "key" in "headers" has to be one line',
  ],
  [
    'a helper that fails, with what it complained of',
    { type: 'http', url, headersHelper: 'echo first >&2; echo no vault token=abcdefgh >&2; exit 4' },
    'its "headersHelper" ended with exit code 4; it said: no vault token=[redacted]; run it by hand',
  ],
  [
    'a whole line where a command belongs',
    { command: 'no-such-python server.py' },
    'its command is not found: no-such-python server.py; put what follows its first word into "args", or give its full path',
  ],
  [
    'a program that tells its usage on stdout and ends',
    { command: 'sh', args: ['-c', 'echo "usage: serve --config FILE"; exit 2'] },
    "it ended before it was ready; it said: (stdout) usage: serve --config FILE | (exited with code 2); run its command by hand to see more; servers get only a limited environment, so pass variables it needs with -e NAME='${NAME}'",
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

  test.each(KINDS)('is told with its reason, without secrets (%s)', async (type) => {
    await using web = await startWeb((_, response) =>
      response.writeHead(403, { 'content-type': 'text/plain' }).end(REASON),
    );
    expect(await failure(entryOf(type, web.port))).toMatchObject({
      code: 'unreachable',
      message:
        'MCP server "srv": it refused the request (HTTP 403); check "url", and "headers" if it wants credentials; it said: Access is only allowed at localhost:21004, not with [redacted]',
    });
  });

  test.each(KINDS)('with a web page is told with its text (%s)', async (type) => {
    const page = `<html><head><title>Forbidden</title></head><body><pre>${REASON}</pre></body></html>`;
    await using web = await startWeb((_, response) =>
      response.writeHead(403, { 'content-type': 'text/html; charset=utf-8' }).end(page),
    );
    expect(await failure(entryOf(type, web.port))).toMatchObject({
      message: expect.stringMatching(/; it said: Forbidden Access is only allowed at .* with \[redacted\]$/),
    });
  });

  test.each(KINDS)('with a challenge wants authorization (%s)', async (type) => {
    await using web = await startWeb((_, response) =>
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end('more scopes'),
    );
    expect(await failure(entryOf(type, web.port))).toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('it said: more scopes'),
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
      'MCP server "srv": it closed the socket with code 1011: not today; see whether the server still runs',
  });
});

test('a port that speaks TLS, or anything else that is no HTTP', async () => {
  const server = createServer((socket) =>
    socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70])).on('error', () => {}),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await failure({ type: 'http', url: `http://127.0.0.1:${port}/` })).toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('it does not speak HTTP there; check "url" and its port'),
  });
  server.close();
});

test.each([
  ['a cycle', () => ({ message: cycle() })],
  ['a BigInt', () => ({ message: 5n })],
])('arguments that are no JSON: %s; the connection lives on', async (_, args) => {
  await using opened = await open(everything);
  await expect(opened.connection.callTool('echo', args() as never)).rejects.toMatchObject({
    code: 'bad-config',
    hasRun: 'no',
    message:
      'MCP server "srv": what it is asked cannot be written as JSON (a cycle, a BigInt); give plain data',
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
