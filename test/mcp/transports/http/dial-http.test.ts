import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { dial } from '../../../../src/mcp/transports/transports.ts';
import { reach, unreached } from '../../support/reach.ts';
import { startHttpServer, testWorld } from '../../support/servers.ts';
import { startEverything } from './support/everything.ts';
import { openEvents, resultOf, type Seen, sendJson, startWeb } from './support/web.ts';

describe('dial http', () => {
  const text = (value: string) => [{ type: 'text', text: value }];

  describe('a good server', () => {
    test.each(['legacy', 'auto'] as const)('gets the headers on every request (%s) (R22)', async (mode) => {
      await using web = await startHttpServer('Bearer open');
      const entry = { type: 'http' as const, url: web.url, headers: { Authorization: 'Bearer open' } };
      await using far = await reach(entry, testWorld(), mode);
      expect(far.client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy');
      expect((await far.call('add', { a: 2, b: 40 })).content).toEqual(text('42'));
    });

    test('answers 64 calls at once, each its own', async () => {
      await using web = await startWeb();
      await using far = await reach({ type: 'http', url: web.url });
      const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => far.call('t', { i })));
      expect(answers.map(({ content }) => content)).toEqual(answers.map((_, i) => text(`{"i":${i}}`)));
    });

    test('of the MCP project is reached with a session, a stream and progress (R155)', async () => {
      await using everything = await startEverything('streamableHttp');
      await using far = await reach({ type: 'http', url: everything.url });
      expect((await far.call('echo', { message: 'hi' })).content).toEqual(text('Echo: hi'));
      const progress: number[] = [];
      await far.client.callTool(
        { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
        { onprogress: (it) => progress.push(it.progress) },
      );
      expect(progress).toEqual([1, 2]);
      expect(far.errors).toEqual([]);
    });

    test('is told of the end of its session, and no connection is left', async () => {
      await using web = await startWeb((seen, response) => {
        if (seen.message.method !== 'initialize') return false;
        const message = { jsonrpc: '2.0', id: seen.message.id, result: resultOf(seen) };
        return sendJson(response, message, { 'mcp-session-id': 's1' });
      });
      const far = await reach({ type: 'http', url: web.url });
      await far.call('t');
      await far.dialed.close();
      expect(web.seen.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's1' } });
      await expect.poll(web.connections).toBe(0);
    });

    test('that never answers the farewell is left after a second', async () => {
      await using web = await startWeb((seen, response) => {
        if (seen.method === 'DELETE') return undefined;
        if (seen.message.method !== 'initialize') return false;
        const message = { jsonrpc: '2.0', id: seen.message.id, result: resultOf(seen) };
        return sendJson(response, message, { 'mcp-session-id': 's1' });
      });
      const far = await reach({ type: 'http', url: web.url });
      const start = performance.now();
      await far.dialed.close();
      expect(performance.now() - start).toBeLessThan(1900);
    });

    test('is let go of at once by an abort', async () => {
      const asked = Promise.withResolvers<void>();
      await using web = await startWeb(({ message }) => {
        if (message.params?.name !== 'hang') return false;
        return asked.resolve();
      });
      await using far = await reach({ type: 'http', url: web.url });
      const abort = new AbortController();
      const call = far.call('hang', {}, abort.signal);
      await asked.promise;
      abort.abort();
      await expect(call).rejects.toThrow();
      await expect.poll(() => web.seen.at(-1)?.message.method).toBe('notifications/cancelled');
    });
  });

  test.each(['no answer yet', 'a stream'] as const)(
    'an aborted request ends its connection (%s)',
    async (state) => {
      const asked = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      await using web = await startWeb((_, response) => {
        response.on('close', () => gone.resolve());
        if (state === 'no answer yet') return asked.resolve();
        return openEvents(response)({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      });
      const { transport, close } = await dial('srv', { type: 'http', url: web.url }, testWorld());
      // The stream is open once a message has arrived on it.
      transport.onmessage = () => asked.resolve();
      await transport.start();
      const abort = new AbortController();
      const request = { jsonrpc: '2.0' as const, id: 1, method: 'tools/call', params: {} };
      const sent = transport
        .send(request, { requestSignal: abort.signal })
        .catch((failure: Error) => failure.name);
      await asked.promise;
      abort.abort();
      await gone.promise;
      expect(await sent).toBe(state === 'a stream' ? undefined : 'AbortError');
      await close();
    },
  );

  test('the stream beside is opened again when it is cut, and what it missed is made up for', async () => {
    let opened = 0;
    await using web = await startWeb((seen, response) => {
      if (seen.method !== 'GET') return false;
      openEvents(response);
      if (++opened === 1) response.end();
      return undefined;
    });
    await using far = await reach({ type: 'http', url: web.url });
    await new Promise<void>((resolve) => {
      far.client.fallbackNotificationHandler = async ({ method }) => {
        if (method === 'notifications/list_changed') resolve();
      };
    });
    expect(opened).toBe(2);
  });

  test('connection refused: the request was not sent', async () => {
    const web = await startWeb();
    await web[Symbol.asyncDispose]();
    const failure = await unreached({ type: 'http', url: web.url });
    expect(failure).toMatchObject({ name: 'HttpError', code: 'ECONNREFUSED', wasSent: false });
  });

  test.each(['not a url', 'http://user:secret@127.0.0.1/'])(
    '%j is refused without its secrets',
    async (url) => {
      const failure = await unreached({ type: 'http', url });
      expect(failure).toMatchObject({ name: 'HostError', code: 'bad-config' });
      expect(String(failure)).not.toContain('secret');
    },
  );

  describe('a stream of events', () => {
    test('may carry more than the answer', async () => {
      await using web = await startWeb((seen, response) => {
        if (seen.message.method !== 'tools/call') return false;
        const send = openEvents(response);
        send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } });
        send({ jsonrpc: '2.0', id: seen.message.id, result: resultOf(seen) });
        return response.end();
      });
      await using far = await reach({ type: 'http', url: web.url });
      expect((await far.call('t', { a: 1 })).content).toEqual(text('{"a":1}'));
    });

    test.each(['end', 'destroy'] as const)(
      'that is cut (%s) before the answer fails the call',
      async (how) => {
        await using web = await startWeb((seen, response) => {
          if (seen.message.params?.name !== 'cut') return false;
          openEvents(response)({
            jsonrpc: '2.0',
            method: 'notifications/message',
            params: { level: 'info', data: 1 },
          });
          return setTimeout(() => response[how](), 20);
        });
        await using far = await reach({ type: 'http', url: web.url });
        await expect(far.call('cut')).rejects.toMatchObject({ code: 'stream-ended', wasSent: true });
        expect((await far.call('t')).content).toEqual(text('{}'));
      },
    );
  });
});

describe('dial sse', () => {
  /** An HTTP+SSE server; `endpoint` is the path for messages, `twist` may prevent a message from being answered. */
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
    await expect(far.call('refused')).rejects.toMatchObject({ name: 'HttpError', status: 500 });
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
  ])('%i is reported and not retried', async (status, type) => {
    await using web = await startWeb((_, response) =>
      response.writeHead(status, { 'content-type': type }).end('no'),
    );
    expect(await unreached({ type: 'sse', url: web.url })).toMatchObject({ name: 'HttpError', status });
    expect(web.seen).toHaveLength(1);
  });

  test('connection refused: nothing was sent', async () => {
    const web = await startWeb();
    await web[Symbol.asyncDispose]();
    const failure = await unreached({ type: 'sse', url: web.url });
    expect(failure).toMatchObject({ code: 'ECONNREFUSED', wasSent: false });
  });
});
