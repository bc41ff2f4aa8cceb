import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkResponse,
  parseJsonResponse,
  quickRequestIdOf,
  type ResponseFacts,
  requestIdOf,
  retryAfterMs,
} from '../../../../src/mcp/transports/http/http-response.ts';
import { reach } from '../../support/reach.ts';
import { testWorld } from '../../support/servers.ts';
import { openEvents, resultOf, sendJson, startWeb, type Twist } from './support/web.ts';

describe('answers', () => {
  /** The error of a call that the server answers in this way; the next call must succeed. */
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
    expect(failure).toMatchObject({ name: 'HttpError', status: 503, retryAfterMs: 2000, wasSent: true });
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
    [
      'broken JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    ],
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
      message:
        'the server sent a message of more than 1000 bytes; raise "maxFrameBytes" in its entry to accept it',
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
      await using far = await reach({
        type: 'http',
        url: web.url,
        headers: { Authorization: 'Bearer open' },
      });
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
        message: `the server redirects to another origin, ${place}, which must not receive the configured headers; if that address is correct, set "url" to it`,
      });
      expect(asked).toEqual([]);
      other.close();
    });

    test.each([
      [302, '/mcp', /drops the request body/],
      [308, '/mcp', /too many redirects/],
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
});

describe('judge answer', () => {
  const NO_ANSWER =
    'the response of the server is neither a result nor an error; report this to the author of the server';

  const ok: ResponseFacts = {
    method: 'POST',
    wantsAnswer: true,
    hadSession: false,
    status: 200,
    type: 'application/json',
    text: '{}',
  };

  test.each<['streamable' | 'sse', Partial<ResponseFacts>]>([
    ['streamable', {}],
    ['streamable', { type: 'text/event-stream', text: '' }],
    ['streamable', { status: 202, type: '', text: '', wantsAnswer: false }],
    ['streamable', { status: 204, type: '', text: '', wantsAnswer: false }],
    ['streamable', { method: 'GET', type: 'text/event-stream' }],
    // The official transport itself handles these: protocol eras, sign-ins and missing streams.
    ['streamable', { status: 400 }],
    ['streamable', { status: 404, type: 'text/html' }],
    ['streamable', { status: 405, method: 'GET' }],
    ['streamable', { status: 401 }],
    ['streamable', { status: 403, method: 'GET' }],
    ['streamable', { status: 500, method: 'DELETE' }],
    ['sse', { status: 202, type: '', text: 'Accepted' }],
  ])('%s %j is for the transport', (kind, more) => {
    expect(checkResponse(kind, { ...ok, ...more })).toBeUndefined();
  });

  test.each<['streamable' | 'sse', Partial<ResponseFacts>, object]>([
    ['streamable', { status: 404, hadSession: true }, { code: 'http-status', status: 404, hadSession: true }],
    [
      'streamable',
      { status: 400, hadSession: true, text: '{"error":{}}' },
      { hadSession: true, text: '{"error":{}}' },
    ],
    [
      'streamable',
      { status: 403, type: 'text/plain', text: 'not from here', challenge: 'Bearer' },
      {
        status: 403,
        reason: 'not from here',
        challenge: 'Bearer',
        message: 'the server answered with HTTP 403: not from here',
      },
    ],
    ['streamable', { status: 404, hadSession: true, method: 'GET' }, { status: 404, hadSession: false }],
    [
      'streamable',
      { status: 503, retryAfterMs: 2000, type: 'text/plain', text: 'busy' },
      {
        message: 'the server answered with HTTP 503 (Retry-After: 2 s): busy',
        retryAfterMs: 2000,
        wasSent: true,
      },
    ],
    [
      'streamable',
      { status: 500, type: 'text/html', text: '<title>Oh</title><p>x' },
      { message: 'the server answered with HTTP 500', reason: 'Oh x' },
    ],
    ['sse', { status: 403, type: 'text/html', text: '<h1>Blocked</h1>' }, { status: 403, reason: 'Blocked' }],
    [
      'streamable',
      { type: 'text/html', text: '<title>Log in</title>' },
      {
        code: 'bad-answer',
        message:
          'the server answered with HTTP 200 with text/html instead of application/json ("Log in"); check "url"',
      },
    ],
    ['streamable', { text: ' ' }, { code: 'bad-answer' }],
    [
      'streamable',
      { text: '' },
      {
        message:
          'the server answered with HTTP 200 with an empty body instead of application/json; check "url"',
      },
    ],
    ['streamable', { status: 204, type: '', text: '' }, { code: 'bad-answer', status: 204 }],
    ['streamable', { status: 202, type: '', text: '' }, { code: 'bad-answer', status: 202 }],
    ['streamable', { method: 'GET', type: 'text/html' }, { code: 'bad-answer' }],
    ['sse', { status: 404, method: 'GET' }, { code: 'http-status', status: 404 }],
    ['sse', { status: 401, method: 'GET' }, { code: 'http-status', status: 401 }],
    ['sse', { method: 'GET' }, { code: 'bad-answer' }],
    ['sse', { status: 500 }, { code: 'http-status', status: 500 }],
  ])('%s %j fails the request', (kind, more, fault) => {
    expect(checkResponse(kind, { ...ok, ...more })).toMatchObject(fault);
  });

  test.each([
    ['{"jsonrpc":"2.0","id":1,"result":{}}', 1],
    ['{"jsonrpc":"2.0","id":"1","result":{}}', 1],
    ['[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":1,"result":{}}]', 1],
  ])('%s is read as an answer to %s', (text, id) => {
    expect(parseJsonResponse(text, 200, id)).toEqual(JSON.parse(text));
  });

  test.each([
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":null}', { result: {} }],
    ['{"id":1,"result":{"_meta":null}}', { result: {} }],
    ['{"jsonrpc":"2.0","id":1,"result":null}', { error: { code: -32603, message: NO_ANSWER } }],
    ['{"jsonrpc":"2.0","id":1}', { error: { code: -32603, message: NO_ANSWER } }],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":"no"}}',
      { error: { code: -32603, message: 'no' } },
    ],
  ])('%s is put right', (text, read) => {
    expect(parseJsonResponse(text, 200, 1)).toEqual({ jsonrpc: '2.0', id: 1, ...read });
  });

  test.each([
    [
      '[]',
      'the server answered with HTTP 200, but the batch contains no response to the request; report this to the author of the server',
    ],
    [
      '[{"jsonrpc":"2.0","id":9,"result":{}},7]',
      'the server answered with HTTP 200, but the batch contains no response to the request; report this to the author of the server',
    ],
    [
      '{"jsonrpc":"2.0","method":"notifications/x"}',
      'the server answered with HTTP 200, but the body is not a response to the request; check "url"',
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      'the server answered with HTTP 200, but the body is not a response to the request; check "url"',
    ],
    [
      '{"jsonrpc":"2.0","id":{"toString":1},"result":{}}',
      'the server answered with HTTP 200, but the response is for another request (no id instead of id 1); report this to the author of the server',
    ],
    [
      '{"jsonrpc":"2.0","id":2,"result":{}}',
      'the server answered with HTTP 200, but the response is for another request (id 2 instead of id 1); report this to the author of the server',
    ],
    [
      '{"jsonrpc":"2.0","error":{"code":1}}',
      'the server answered with HTTP 200, but the response is for another request (no id instead of id 1); report this to the author of the server',
    ],
    ['{"ok":true}', 'the server answered with HTTP 200, but the body is not a JSON-RPC message; check "url"'],
    ['null', 'the server answered with HTTP 200, but the body is not a JSON-RPC message; check "url"'],
    ['{"jsonrpc"', 'the server answered with HTTP 200, but the body is not valid JSON; check "url"'],
  ])('%s is no answer', (text, message) => {
    expect(() => parseJsonResponse(text, 200, 1)).toThrow(
      expect.objectContaining({ code: 'bad-answer', message }),
    );
  });
});

describe('request id', () => {
  test.each([
    ['{"method":"m","jsonrpc":"2.0","id":12}', 12],
    ['{"jsonrpc":"2.0","id":"probe-1","method":"m"}', 'probe-1'],
    ['{"jsonrpc":"2.0","method":"m","params":{"a":1,"id":5}}', undefined],
    ['{"result":{},"jsonrpc":"2.0","id":3}', undefined],
    ['[{"method":"m","id":1}]', undefined],
    ['', undefined],
  ])('the request in %s is %s', (body, id) => {
    expect(requestIdOf(body)).toBe(id);
  });

  test.each([
    ['{"jsonrpc":"2.0","id":12,"method":"m", the rest', 12],
    ['the rest, "a":1,"id":12}', 12],
  ])('the quick way does not read all of %s', (body, id) => {
    expect(quickRequestIdOf(body)).toBe(id);
  });

  test('of a request the quick way finds the same, whatever its parameters', () => {
    const id = fc.oneof(fc.nat(), fc.string());
    fc.assert(
      fc.property(fc.jsonValue(), id, fc.boolean(), (params, it, isLast) => {
        const body = isLast
          ? { method: 'm', params, jsonrpc: '2.0', id: it }
          : { jsonrpc: '2.0', id: it, method: 'm', params };
        expect(quickRequestIdOf(JSON.stringify(body))).toBe(it);
      }),
    );
  });
});

describe('retry after', () => {
  const NOW = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

  test.each([
    ['2', 2000],
    [' 0 ', 0],
    ['Wed, 21 Oct 2026 07:28:05 GMT', 5000],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('Retry-After: %s is %s ms', (value, ms) => {
    expect(retryAfterMs(value, NOW)).toBe(ms);
  });

  test('a date says nothing to who does not know the time', () => {
    expect(retryAfterMs('Wed, 21 Oct 2026 07:28:05 GMT', Number.NaN)).toBeUndefined();
    expect(retryAfterMs('2', Number.NaN)).toBe(2000);
  });
});
