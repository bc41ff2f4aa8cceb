import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HttpError } from '../../../../src/mcp/transports/http/http-error.ts';
import {
  lastEventIdAfter,
  mayBeCausedById,
  RECONNECT_DELAY,
  type ReconnectOptions,
  reconnectDelayMs,
  reconnectingFetch,
  reconnectingStream,
  retryFieldOf,
} from '../../../../src/mcp/transports/http/reconnecting-stream.ts';
import { reach } from '../../support/reach.ts';
import { openEvents, startWeb, type Twist } from './support/web.ts';

describe('lasting stream', () => {
  const GAP = 'data: {"jsonrpc":"2.0","method":"notifications/list_changed"}\n\n';

  /** A stream of these events, which then ends, fails or stays open. */
  function stream(events: string[], then: 'end' | 'break' | 'stay' = 'end') {
    return new ReadableStream<Uint8Array>({
      start(controller) {
        for (const event of events) controller.enqueue(Buffer.from(event));
        if (then === 'end') controller.close();
      },
      pull(controller) {
        if (then === 'break') controller.error(new Error('cut'));
      },
    });
  }

  function lasting(
    more: Partial<ReconnectOptions> & Pick<ReconnectOptions, 'open'>,
    first = stream(['data: a\n\n']),
  ) {
    const troubles: unknown[] = [];
    const onTrouble = (fault: unknown) => troubles.push((fault as Error).message);
    const pause = { firstMs: 1, maxMs: 2 };
    const reader = reconnectingStream(first, {
      onError: onTrouble,
      signal: undefined,
      pause,
      ...more,
    }).getReader();
    return { troubles, reader, next: async () => Buffer.from((await reader.read()).value ?? []).toString() };
  }

  test('after any number of failures the next stream is read, and what was missed is made up for', async () => {
    let asked = 0;
    const open = async () => {
      if (++asked < 30) throw new Error('away');
      return stream(['data: b\n\n'], 'stay');
    };
    const { next, troubles, reader } = lasting({ open });
    expect([await next(), await next(), await next()]).toEqual(['data: a\n\n', GAP, 'data: b\n\n']);
    expect(troubles).toEqual(Array.from({ length: 29 }, () => 'away'));
    await reader.cancel();
  });

  test('a stream that breaks is told, and the next one begins after the last event', async () => {
    const asked: unknown[] = [];
    const open: ReconnectOptions['open'] = async (id) => {
      asked.push(id);
      return stream(['data: c\nid: 9\n\n'], asked.length < 3 ? 'break' : 'stay');
    };
    const { next, troubles, reader } = lasting(
      { open },
      stream(['id: 7\r\nretry: 1\r\ndata: a\r\n\r\n'], 'break'),
    );
    for (let read = 0; read < 7; read++) await next();
    expect({ asked, troubles }).toEqual({ asked: ['7', '9', '9'], troubles: ['cut', 'cut', 'cut'] });
    await reader.cancel();
  });

  test('it ends when the server has none any more', async () => {
    const { next, reader, troubles } = lasting({ open: async () => 'over' });
    await next();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    expect(troubles).toEqual([]);
  });

  test.each(['abort', 'cancel'] as const)('nothing is opened any more after an %s', async (how) => {
    const life = new AbortController();
    let asked = 0;
    const failed = Promise.withResolvers<void>();
    const open = async () => {
      asked++;
      failed.resolve();
      throw new Error('away');
    };
    const { next, reader, troubles } = lasting({
      open,
      signal: life.signal,
      pause: { firstMs: 1, maxMs: 1e6 },
    });
    await next();
    const last = reader.read().catch(() => 'failed');
    await failed.promise;
    if (how === 'abort') life.abort();
    else await reader.cancel();
    expect(await last).toEqual(how === 'abort' ? 'failed' : { done: true, value: undefined });
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toBe(before);
    expect(troubles.length).toBeLessThanOrEqual(asked);
  });
});

describe('lasting fetch', () => {
  /** The notification stream of a server that gives these answers in turn; the last one is repeated. */
  async function startBeside(...answers: Twist[]) {
    let tries = 0;
    const web = await startWeb((seen, response) => {
      if (seen.method !== 'GET') return false;
      return answers[Math.min(tries++, answers.length - 1)]?.(seen, response);
    });
    const troubles: unknown[] = [];
    const beside = reconnectingFetch(fetch, (fault) => troubles.push(fault), { firstMs: 1, maxMs: 5 });
    const life = new AbortController();
    return {
      web,
      troubles,
      get: () => beside(web.url, { method: 'GET', signal: life.signal }),
      ids: () => web.seen.map(({ headers }) => headers['last-event-id']),
      async [Symbol.asyncDispose]() {
        life.abort();
        await web[Symbol.asyncDispose]();
      },
    };
  }

  const refuse =
    (status: number): Twist =>
    (_, response) =>
      response.writeHead(status).end();
  const cut: Twist = (_, response) => response.destroy();
  const stay: Twist = (_, response) => openEvents(response)({ said: 'stay' });
  const end =
    (event: string): Twist =>
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event);

  /** Reads until the text has arrived. */
  async function hear({ body }: Response, said: string) {
    let text = '';
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes(said)) return text;
    }
    throw new Error(`it ended after ${text}`);
  }

  describe('a first try that fails', () => {
    test.each([
      ['by a 500', refuse(500)],
      ['by a 429', refuse(429)],
      ['by a cut', cut],
    ])('%s is a stream that is yet to open', async (_, failing) => {
      await using beside = await startBeside(failing, failing, failing, stay);
      const response = await beside.get();
      expect(response.status).toBe(200);
      expect(await hear(response, 'stay')).toContain('notifications/list_changed');
      expect(beside.web.seen).toHaveLength(4);
      expect(beside.troubles).toHaveLength(3);
    });

    test.each([405, 404, 501, 401, 403])('by a %i is told as it is, and not tried again', async (status) => {
      await using beside = await startBeside(refuse(status));
      expect((await beside.get()).status).toBe(status);
      expect({ tries: beside.web.seen.length, troubles: beside.troubles }).toEqual({
        tries: 1,
        troubles: [],
      });
    });

    test('ends as no stream when the server then says that it has none', async () => {
      await using beside = await startBeside(refuse(503), refuse(405));
      const { body } = await beside.get();
      expect(await body?.getReader().read()).toEqual({ done: true, value: undefined });
    });

    test('because we left is no stream', async () => {
      await using beside = await startBeside(stay);
      const left = reconnectingFetch(fetch, (fault) => beside.troubles.push(fault));
      const leaving = left(beside.web.url, { method: 'GET', signal: AbortSignal.abort() });
      await expect(leaving).rejects.toMatchObject({ name: 'AbortError' });
      expect(beside.troubles).toEqual([]);
    });

    test('that goes on with the answer to a request is left to the transport', async () => {
      await using beside = await startBeside(refuse(500));
      const one = reconnectingFetch(fetch, (fault) => beside.troubles.push(fault));
      const { status } = await one(beside.web.url, { method: 'GET', headers: { 'last-event-id': '7' } });
      expect({ status, troubles: beside.troubles }).toEqual({ status: 500, troubles: [] });
    });

    test('does not fail the connection, which hears the server later', async () => {
      await using beside = await startBeside(refuse(500), stay);
      await using far = await reach({ type: 'http', url: beside.web.url });
      await new Promise<void>((resolve) => {
        far.client.fallbackNotificationHandler = async ({ method }) => {
          if (method === 'notifications/list_changed') resolve();
        };
      });
      expect(beside.web.seen.filter(({ method }) => method === 'GET')).toHaveLength(2);
    });
  });

  describe('the id of the last event', () => {
    test.each([400, 404])('is forgotten when the server answers %i', async (status) => {
      await using beside = await startBeside(end('id: 7\ndata: a\n\n'), refuse(status), stay);
      await hear(await beside.get(), 'stay');
      expect(beside.ids()).toEqual([undefined, '7', undefined]);
    });

    test('is kept while the server is not ready', async () => {
      await using beside = await startBeside(end('id: 7\ndata: a\n\n'), refuse(503), stay);
      await hear(await beside.get(), 'stay');
      expect(beside.ids()).toEqual([undefined, '7', '7']);
    });

    test('is not sent when no header can hold it', async () => {
      await using beside = await startBeside(end('id: 7\ndata: a\n\nid: 事件\ndata: b\n\n'), stay);
      await hear(await beside.get(), 'stay');
      expect(beside.ids()).toEqual([undefined, undefined]);
      expect(beside.troubles).toEqual([]);
    });
  });
});

describe('lasting id', () => {
  test.each([
    ['an id', 'id: 7\ndata: a\n\n', '7'],
    ['none', 'data: a\n\n', 'before'],
    ['one with letters of Latin-1', 'id: é\n\n', 'é'],
    ['one with other letters', 'id: 事件-7\n\n', undefined],
    ['one with a control character', 'id: 7\u0001\n\n', undefined],
    ['one with a zero', 'id: 7\u0000\n\n', undefined],
  ])('after an event with %s the stream goes on from what a header can hold', (_, event, id) => {
    expect(lastEventIdAfter(event, 'before')).toBe(id);
  });

  test('no id is kept that a header refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        const kept = lastEventIdAfter(`id: ${id}\n\n`, undefined);
        if (kept !== undefined)
          expect(new Headers({ 'last-event-id': kept }).has('last-event-id')).toBe(true);
      }),
    );
  });

  const answered = (status: number) => new HttpError('no', { code: 'http-status', status, wasSent: true });

  test.each([
    ['a 400', true, answered(400)],
    ['a 404', true, answered(404)],
    ['a 500', true, answered(500)],
    ['a 503', false, answered(503)],
    ['a cut', true, new HttpError('cut', { code: 'ECONNRESET', wasSent: true })],
    ['connection refused', false, new HttpError('away', { code: 'ECONNREFUSED', wasSent: false })],
    ['a throw', true, new TypeError('no header')],
  ])('%s may be the doing of the id: %s', (_, may, fault) => {
    expect(mayBeCausedById(fault)).toBe(may);
  });
});

describe('lasting pause', () => {
  test.each([
    { asked: undefined, failures: 0, ms: 1000 },
    { asked: undefined, failures: 3, ms: 8000 },
    { asked: undefined, failures: 5000, ms: 30_000 },
    { asked: 5000, failures: 0, ms: 5000 },
    { asked: 5000, failures: 1, ms: 10_000 },
    { asked: 0, failures: 0, ms: 1000 },
    { asked: 0, failures: 9, ms: 30_000 },
    { asked: 2 ** 31, failures: 0, ms: 30_000 },
    { asked: Number.POSITIVE_INFINITY, failures: 0, ms: 30_000 },
  ])('asked for $asked ms, after $failures failures the pause is $ms ms', ({ asked, failures, ms }) => {
    expect(reconnectDelayMs(asked, failures, RECONNECT_DELAY)).toBe(ms);
  });

  test('whatever a server asks for, it is neither asked without a pause nor forgotten', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,400}$/), fc.nat(), (digits, failures) => {
        const ms = reconnectDelayMs(retryFieldOf(`retry: ${digits}\ndata: a\n\n`), failures, RECONNECT_DELAY);
        expect(ms).toBeGreaterThanOrEqual(1000);
        expect(ms).toBeLessThanOrEqual(30_000);
      }),
    );
  });

  test.each([
    ['retry: 20\n\n', 20],
    ['data: a\r\nretry:20\r\n\r\n', 20],
    ['retry: soon\n\n', undefined],
    ['retry: -1\n\n', undefined],
    ['data: retry: 20\n\n', undefined],
  ])('%j asks for %j', (event, ms) => {
    expect(retryFieldOf(event)).toBe(ms);
  });
});
