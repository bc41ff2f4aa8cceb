import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { reach } from '../../connection/reach.ts';
import { testWorld } from '../../connection/servers.ts';
import { openEvents, resultOf, sendJson, startWeb, type Twist } from './web.ts';

/** What a call fails with when the server does this to it; the next one must work. */
async function callFailure(twist: Twist, maxFrameBytes = 1000, hasSession = false) {
  await using web = await startWeb((seen, response) => {
    if (seen.message.method === 'initialize' && hasSession) {
      const message = { jsonrpc: '2.0', id: seen.message.id, result: resultOf(seen) };
      return sendJson(response, message, { 'mcp-session-id': 's1' });
    }
    return seen.message.params?.name === 'bad' ? twist(seen, response) : false;
  });
  await using far = await reach({ type: 'http', url: web.url, maxFrameBytes });
  const failure: unknown = await far.call('bad').then(
    () => expect.unreachable('it was answered'),
    (thrown: unknown) => thrown,
  );
  await far.call('good');
  return { failure, calls: web.calls().length };
}

test('503 with Retry-After says when to come back, and is not repeated', async () => {
  const { failure, calls } = await callFailure((_, response) =>
    response.writeHead(503, { 'retry-after': '2' }).end('busy'),
  );
  expect(failure).toMatchObject({ name: 'HttpFault', status: 503, retryAfterMs: 2000, wasSent: true });
  expect(calls).toBe(2);
});

test('503 until a date is measured by the clock of the server', async () => {
  const headers = { date: 'Wed, 21 Oct 2015 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2015 07:28:05 GMT' };
  const { failure } = await callFailure((_, response) => response.writeHead(503, headers).end());
  expect(failure).toMatchObject({ status: 503, retryAfterMs: 5000 });
});

test.each([400, 404])('%i to a request with a session says that it had one', async (status) => {
  const twist: Twist = (_, response) => response.writeHead(status).end('no such session');
  expect((await callFailure(twist, 1000, true)).failure).toMatchObject({ status, hadSession: true });
  expect((await callFailure(twist)).failure).not.toMatchObject({ hadSession: true });
});

test.each<[string, Twist]>([
  [
    'a login page',
    (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'),
  ],
  ['an empty 200', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end()],
  ['a 204', (_, response) => response.writeHead(204).end()],
  ['a 202', (_, response) => response.writeHead(202).end()],
  ['broken JSON', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{')],
  ['another id', (_, response) => sendJson(response, { jsonrpc: '2.0', id: 999, result: {} })],
  ['an empty list', (_, response) => sendJson(response, [])],
  [
    'a list without the answer',
    (_, response) => sendJson(response, [{ jsonrpc: '2.0', id: 999, result: {} }]),
  ],
  ['a notification', (_, response) => sendJson(response, { jsonrpc: '2.0', method: 'notifications/x' })],
  ['a request', (_, response) => sendJson(response, { jsonrpc: '2.0', id: 77, method: 'ping' })],
])('%s fails the one call as a bad answer, in one line', async (_name, twist) => {
  const { failure } = await callFailure(twist);
  expect(failure).toMatchObject({
    code: 'bad-answer',
    wasSent: true,
    message: expect.stringMatching(/^.+$/),
  });
});

describe('an answer in a shape of its own', () => {
  const shapes: [string, (id: unknown) => unknown][] = [
    ['an empty error', (id) => ({ jsonrpc: '2.0', id, result: { content: [] }, error: null })],
    ['no version', (id) => ({ id, result: { content: [] } })],
    ['empty metadata', (id) => ({ jsonrpc: '2.0', id, result: { content: [], _meta: null } })],
    ['a list around it', (id) => [{ jsonrpc: '2.0', id, result: { content: [] } }]],
  ];
  const answers: [string, (response: ServerResponse, message: unknown) => void][] = [
    ['in JSON', sendJson],
    ['in a stream that stays open', (response, message) => openEvents(response)(message)],
  ];

  test.each(answers.flatMap(([how, send]) => shapes.map(([what, shape]) => ({ how, what, send, shape }))))(
    'is taken with $what, $how',
    async ({ send, shape }) => {
      await using web = await startWeb(({ message }, response) =>
        message.method === 'tools/call' ? send(response, shape(message.id)) : false,
      );
      await using far = await reach({ type: 'http', url: web.url });
      expect(await far.call('t')).toEqual({ content: [] });
    },
  );
});

describe('a message that is too long', () => {
  const long = (id: unknown) => ({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text: 'x'.repeat(2000) }] },
  });
  const tooLarge = {
    code: 'too-large',
    message: 'it sent a message of more than 1000 bytes; raise "maxFrameBytes" of its entry to take it',
  };

  test.each<[string, Twist]>([
    [
      'in JSON that says how long it is',
      ({ message }, response) => {
        const body = JSON.stringify(long(message.id));
        const headers = { 'content-type': 'application/json', 'content-length': body.length };
        return response.writeHead(200, headers).end(body);
      },
    ],
    [
      'in JSON that comes in pieces',
      ({ message }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write(JSON.stringify(long(message.id)).slice(0, 1500));
        return response.write(' '.repeat(1500));
      },
    ],
    [
      'in a stream that ends',
      ({ message }, response) => {
        openEvents(response)(long(message.id));
        return response.end();
      },
    ],
    ['in a stream that does not end', ({ message }, response) => openEvents(response)(long(message.id))],
  ])('%s fails the one call', async (_name, twist) => {
    expect((await callFailure(twist)).failure).toMatchObject(tooLarge);
  });

  test('is measured by what the world says where the entry says nothing', async () => {
    await using web = await startWeb();
    await using far = await reach({ type: 'http', url: web.url }, testWorld({ maxFrameBytes: 500 }));
    await expect(far.call('t', { a: 'x'.repeat(500) })).rejects.toMatchObject({ code: 'too-large' });
  });
});

describe('a redirect', () => {
  test('within the origin is followed with method, body and headers', async () => {
    await using web = await startWeb(({ path }, response) =>
      path === '/mcp' ? response.writeHead(307, { location: '/other?x=1' }).end() : false,
    );
    await using far = await reach({ type: 'http', url: web.url, headers: { Authorization: 'Bearer open' } });
    expect((await far.call('t', { a: 1 })).content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    expect(web.seen.every(({ headers }) => headers.authorization === 'Bearer open')).toBe(true);
  });

  test('to another origin is not, and no header goes there', async () => {
    const asked: unknown[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers);
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const place = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;
    const twist: Twist = (_, response) => response.writeHead(307, { location: `${place}?token=a` }).end();
    const { failure } = await callFailure(twist);
    expect(failure).toMatchObject({
      code: 'cross-origin',
      message: `it redirects to ${place}, another origin, where its headers must not go; if that is the server, make it the "url"`,
    });
    expect(asked).toEqual([]);
    other.close();
  });

  test.each([
    [302, '/mcp', /loses the request/],
    [308, '/mcp', /without end/],
  ])('%i to %s ends in a clear fault', async (status, location, message) => {
    const { failure } = await callFailure((_, response) => response.writeHead(status, { location }).end());
    expect((failure as Error).message).toMatch(message);
  });
});

describe('headers of a helper', () => {
  const helper = (dir: string) =>
    `n=$(cat ${dir}/n 2>/dev/null || echo 0); n=$((n+1)); echo $n > ${dir}/n; echo "{\\"X-Key\\":\\"k$n\\"}"`;

  test('are asked for again when they are refused, and the request is sent once more', async () => {
    const { mkdtemp } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    const dir = await mkdtemp(`${tmpdir()}/helper-`);
    let good = 'k1';
    await using web = await startWeb(({ headers }, response) =>
      headers['x-key'] === good ? false : response.writeHead(401).end(),
    );
    const entry = {
      type: 'http' as const,
      url: web.url,
      headers: { 'x-key': 'own' },
      headersHelper: helper(dir),
    };
    await using far = await reach(entry);
    good = 'k2';
    expect((await far.call('t')).content).toEqual([{ type: 'text', text: '{}' }]);
    good = 'never';
    const before = web.seen.length;
    await expect(far.call('t')).rejects.toMatchObject({ status: 401 });
    expect(web.seen.slice(before).map(({ headers }) => headers['x-key'])).toEqual(['k2', 'k3']);
  });

  test.each([
    [401, 'the same are printed again'],
    [403, 'it is refused all the same'],
  ])('are not sent once more after %i: %s', async (status) => {
    await using web = await startWeb(({ message }, response) =>
      message.method === 'tools/call' ? response.writeHead(status).end() : false,
    );
    const print = status === 401 ? `echo '{"X-Key":"same"}'` : `echo "{\\"X-Key\\":\\"$$\\"}"`;
    await using far = await reach({ type: 'http', url: web.url, headersHelper: print });
    await expect(far.call('t')).rejects.toMatchObject({ status });
    expect(web.calls()).toHaveLength(1);
  });

  test('that fail are one fault before anything is sent', async () => {
    await using web = await startWeb();
    const entry = { type: 'http' as const, url: web.url, headersHelper: 'echo Bearer secret' };
    await expect(reach(entry)).rejects.toMatchObject({ name: 'HostError', code: 'bad-config' });
    expect(web.seen).toEqual([]);
  });
});
