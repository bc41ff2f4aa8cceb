import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { reach, unreached } from '../../connection/reach.ts';
import { startEverything } from './everything.ts';
import { resultOf, type Seen, startWeb } from './web.ts';

/** A server of the older transport; `endpoint` is where it wants its messages, `twist` may keep a message from being answered. */
async function startSse(
  endpoint = '/message?s=1',
  twist: (seen: Seen, stream: ServerResponse) => unknown = () => false,
) {
  const streams: ServerResponse[] = [];
  const web = await startWeb((seen, response) => {
    if (seen.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
      return streams.push(response);
    }
    const stream = streams.at(-1) as ServerResponse;
    if (seen.message.params?.name === 'refused') return response.writeHead(500).end('no');
    response.writeHead(202).end('Accepted');
    if (twist(seen, stream) !== false || seen.message.id === undefined) return undefined;
    const reply = { jsonrpc: '2.0', id: seen.message.id, result: resultOf(seen) };
    return stream.write(`event: message\ndata: ${JSON.stringify(reply)}\n\n`);
  });
  return { ...web, streams };
}

test('the server of the MCP project answers over SSE (R154)', async () => {
  await using everything = await startEverything('sse');
  await using far = await reach({ type: 'sse', url: everything.url });
  const { content } = await far.call('echo', { message: 'hi' });
  expect(content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
  await far.dialed.close();
  expect(far.errors).toEqual([]);
});

test('headers go with the stream and with each message', async () => {
  await using web = await startSse();
  await using far = await reach({ type: 'sse', url: web.url, headers: { 'X-Key': 'k' } });
  await far.call('t');
  expect(web.seen.map(({ method, path, headers }) => [method, path, headers['x-key']])).toEqual([
    ['GET', '/mcp', 'k'],
    ...Array.from({ length: 3 }, () => ['POST', '/message?s=1', 'k']),
  ]);
});

describe('the end of the stream', () => {
  test.each(['end', 'destroy'] as const)(
    '(%s) is the end of the connection, and the call hears why',
    async (how) => {
      await using web = await startSse('/m', ({ message }, stream) =>
        message.params?.name === 'die' ? stream[how]() : false,
      );
      await using far = await reach({ type: 'sse', url: web.url });
      await expect(far.call('die')).rejects.toMatchObject({ code: 'stream-ended', wasSent: true });
      await far.closed;
      expect(web.seen.filter(({ method }) => method === 'GET')).toHaveLength(1);
    },
  );
});

test('a message that is refused fails its call alone', async () => {
  await using web = await startSse();
  await using far = await reach({ type: 'sse', url: web.url });
  await expect(far.call('refused')).rejects.toMatchObject({ name: 'HttpFault', status: 500 });
  expect((await far.call('t')).content).toEqual([{ type: 'text', text: '{}' }]);
});

test('an event that is too long fails its call alone', async () => {
  await using web = await startSse();
  await using far = await reach({ type: 'sse', url: web.url, maxFrameBytes: 1000 });
  await expect(far.call('t', { a: 'x'.repeat(1000) })).rejects.toMatchObject({ code: 'too-large' });
  expect((await far.call('t')).content).toEqual([{ type: 'text', text: '{}' }]);
});

test('an answer with a member too many is taken', async () => {
  await using web = await startSse('/m', ({ message: { id, method } }, stream) => {
    if (method !== 'tools/call') return false;
    const reply = { jsonrpc: '2.0', id, result: { content: [] }, error: null };
    return stream.write(`data: ${JSON.stringify(reply)}\r\n\r\n`);
  });
  await using far = await reach({ type: 'sse', url: web.url });
  expect(await far.call('t')).toEqual({ content: [] });
});

test('an endpoint of another origin is refused', async () => {
  await using web = await startSse('http://127.0.0.1:1/message');
  expect(String(await unreached({ type: 'sse', url: web.url }))).toContain('origin');
  expect(web.seen).toHaveLength(1);
});

test('a stream that ends before it names its endpoint fails the connection at once', async () => {
  await using web = await startWeb((_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': hello\n\n'),
  );
  expect(await unreached({ type: 'sse', url: web.url })).toMatchObject({ code: 'stream-ended' });
  expect(web.seen).toHaveLength(1);
});

test.each([
  [401, 'text/plain'],
  [404, 'text/html'],
  [405, 'application/json'],
])('%i says so, and nobody tries again', async (status, type) => {
  await using web = await startWeb((_, response) =>
    response.writeHead(status, { 'content-type': type }).end('no'),
  );
  expect(await unreached({ type: 'sse', url: web.url })).toMatchObject({ name: 'HttpFault', status });
  expect(web.seen).toHaveLength(1);
});

test('nobody there: nothing was sent', async () => {
  const web = await startWeb();
  await web[Symbol.asyncDispose]();
  const failure = await unreached({ type: 'sse', url: web.url });
  expect(failure).toMatchObject({ code: 'ECONNREFUSED', wasSent: false });
});
