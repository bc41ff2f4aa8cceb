import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { addressLabel } from '../../../src/config/sources/config-paths.ts';
import {
  type ConnectorRequest,
  fetchConnector,
  type RefreshOptions,
  refreshCaches,
} from '../../../src/config/sources/fetch-connectors.ts';
import { cachePath, connectorSource, readCache } from '../../../src/config/sources/read-connectors.ts';
import { configPlace } from '../config-place.ts';
import { answering, catalogueServer } from './catalogue-server.ts';

describe('refresh connectors', () => {
  const BODY = { mcpServers: { a: { url: 'https://a.example/mcp' } } };

  function setUp() {
    const { home } = configPlace();
    const notes: string[] = [];
    const options: RefreshOptions = {
      signal: AbortSignal.timeout(5_000),
      expandHeaders: (headers) =>
        Object.fromEntries(
          Object.entries(headers).map(([name, it]) => [name, it.replace('${TOKEN}', 's3cret')]),
        ),
      note: (text) => void notes.push(text),
      now: () => 0,
    };
    const named = (url: string) => ({
      url,
      label: addressLabel(url),
      headers: { authorization: 'Bearer ${TOKEN}' },
    });
    return {
      home,
      notes,
      named,
      refresh: (urls: readonly string[], more: Partial<RefreshOptions> = {}) =>
        refreshCaches({ home, env: {} }, urls.map(named), { ...options, ...more }),
      source: (url: string) => connectorSource(named(url), home),
    };
  }

  test('R167: fetches a catalogue in the background and reads its content from disk', async () => {
    const { home, notes, named, refresh, source } = setUp();
    let body: unknown = BODY;
    const { url, asked } = await catalogueServer((request, response) => {
      const etag = `"${JSON.stringify(body).length}"`;
      if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
      else answering(body, { etag })(request, response);
    });
    const path = cachePath(home, named(url));
    expect(await source(url)).toMatchObject({ state: 'absent', servers: [], path });

    expect(await refresh([url])).toEqual({ changed: true });
    expect(asked[0]?.headers.authorization).toBe('Bearer s3cret');
    expect(await source(url)).toEqual({
      scope: 'connector',
      label: url,
      owner: new URL(url).host,
      path,
      state: 'read',
      servers: [
        {
          name: 'a',
          scope: 'connector',
          label: url,
          owner: new URL(url).host,
          raw: BODY.mcpServers.a,
          entry: BODY.mcpServers.a,
        },
      ],
      faults: [],
    });
    expect(await readCache(path)).toMatchObject({ fetchedAt: '1970-01-01T00:00:00.000Z' });

    expect(await refresh([url])).toEqual({ changed: false });
    body = { mcpServers: {} };
    expect(await refresh([url])).toEqual({ changed: true });
    expect(await source(url)).toMatchObject({ state: 'read', servers: [] });
    expect(readFileSync(path, 'utf8')).not.toContain('s3cret');
    expect(notes).toEqual([]);
  });

  test('the same response without an ETag is not a change', async () => {
    const { refresh } = setUp();
    const { url } = await catalogueServer(answering(BODY));
    expect(await refresh([url])).toEqual({ changed: true });
    expect(await refresh([url])).toEqual({ changed: false });
  });

  test('reports refused entries of a connector when they are read, and keeps the rest', async () => {
    const { refresh, source } = setUp();
    const mcpServers = {
      ...BODY.mcpServers,
      b: { command: 'rm' },
      '': { url: 'https://x' },
      d: { url: 'https://${A}' },
    };
    const { url } = await catalogueServer(answering({ mcpServers }));
    await refresh([url]);
    const { servers, faults } = await source(url);
    expect(servers.map(({ name, entry }) => [name, entry !== undefined])).toEqual([
      ['a', true],
      ['b', false],
      ['d', false],
    ]);
    expect(faults.map(({ key }) => key)).toEqual([
      'mcpServers.b.command',
      'mcpServers[""]',
      'mcpServers.d.url',
    ]);
  });

  test('a failing catalogue gives one note, keeps its cached content and does not affect others', async () => {
    const { notes, refresh, source } = setUp();
    let answer: RequestListener = answering(BODY);
    const bad = await catalogueServer((request, response) => answer(request, response));
    const good = await catalogueServer(answering(BODY));
    await refresh([bad.url]);
    answer = (_request, response) => void response.writeHead(500).end();
    expect(await refresh([`${bad.url}`, good.url])).toEqual({ changed: true });
    expect(notes).toEqual([
      `${bad.url}: the server answered with HTTP 500; check the URL of the connector, or try again later`,
    ]);
    expect(await source(bad.url)).toMatchObject({ servers: [{ name: 'a' }] });
    expect(await source(good.url)).toMatchObject({ servers: [{ name: 'a' }] });
  });

  test('notes do not show the query of a URL', async () => {
    const { notes, refresh } = setUp();
    const { url } = await catalogueServer((_request, response) => void response.writeHead(404).end());
    await refresh([`${url}?token=s3cret`]);
    expect(notes).toEqual([
      `${url}: the server answered with HTTP 404; check the URL of the connector, or try again later`,
    ]);
  });

  test('reports headers with missing values and sends nothing', async () => {
    const { notes, refresh } = setUp();
    const { url, asked } = await catalogueServer(answering(BODY));
    const expandHeaders = () => {
      throw new Error('headers.authorization names TOKEN, which is not set');
    };
    expect(await refresh([url], { expandHeaders })).toEqual({ changed: false });
    expect(notes).toEqual([`${url}: headers.authorization names TOKEN, which is not set`]);
    expect(asked).toEqual([]);
  });

  test('reports nothing after an abort', async () => {
    const { notes, refresh } = setUp();
    const giveUp = new AbortController();
    const { url } = await catalogueServer(() => giveUp.abort());
    expect(await refresh([url], { signal: giveUp.signal })).toEqual({ changed: false });
    expect(notes).toEqual([]);
  });

  test('reports a response that cannot be stored', async () => {
    const { notes, named } = setUp();
    const { url } = await catalogueServer(answering(BODY));
    const place = configPlace();
    const home = place.write(`${place.project}/file`, 'x');
    const found = refreshCaches({ home, env: {} }, [named(url)], {
      signal: AbortSignal.timeout(5_000),
      expandHeaders: (headers) => headers,
      note: (text) => void notes.push(text),
    });
    expect(await found).toEqual({ changed: false });
    expect(notes).toEqual([expect.stringContaining(`${url}: the catalog could not be stored (`)]);
  });
});

describe('fetch connector', () => {
  const BODY = { mcpServers: { a: { url: 'https://a.example/mcp' } } };

  function fetch(url: string, more: Partial<ConnectorRequest> = {}) {
    return fetchConnector({ url, headers: {}, env: {}, signal: AbortSignal.timeout(5_000), ...more });
  }

  test('R167: takes content and ETag whatever the content type', async () => {
    const { url, asked } = await catalogueServer(
      answering(BODY, { etag: '"1"', 'content-type': 'text/plain' }),
    );
    expect(await fetch(url, { headers: { Authorization: 'Bearer t' } })).toEqual({
      kind: 'fresh',
      body: BODY,
      etag: '"1"',
    });
    expect(asked[0]?.headers).toMatchObject({ authorization: 'Bearer t', accept: 'application/json' });
    expect(asked[0]?.headers['if-none-match']).toBeUndefined();
  });

  test('reports an unchanged catalogue', async () => {
    const { url, asked } = await catalogueServer((_request, response) => void response.writeHead(304).end());
    expect(await fetch(url, { etag: '"1"', headers: { Accept: 'x/y', 'If-None-Match': '"0"' } })).toEqual({
      kind: 'same',
    });
    expect(asked[0]?.headers.accept).toBe('x/y');
    expect(asked[0]?.headers['if-none-match']).toBe('"1"');
    expect(await fetch(url)).toEqual({
      kind: 'failed',
      fault: 'the server answered with HTTP 304; check the URL of the connector, or try again later',
    });
  });

  const status = (code: number, headers: Record<string, string> = {}): RequestListener => {
    return (_request, response) => void response.writeHead(code, headers).end('s3cret');
  };

  test.each<[string, RequestListener, string]>([
    [
      'fails',
      status(500),
      'the server answered with HTTP 500; check the URL of the connector, or try again later',
    ],
    ['refuses us', status(401), 'access denied (HTTP 401); check the "headers" of the connector'],
    [
      'gives no JSON',
      answering('s3cret'),
      'the response is not a JSON object with "mcpServers"; check the URL of the connector',
    ],
    [
      'gives a list',
      answering([1]),
      'the response is not a JSON object with "mcpServers"; check the URL of the connector',
    ],
    [
      'names no servers',
      answering({ servers: {} }),
      'the response is not a JSON object with "mcpServers"; check the URL of the connector',
    ],
    [
      'gives servers that are none',
      answering({ mcpServers: [] }),
      'the response is not a JSON object with "mcpServers"; check the URL of the connector',
    ],
    [
      'nests without end',
      answering('['.repeat(100_000)),
      'the response is not a JSON object with "mcpServers"; check the URL of the connector',
    ],
    ['says too much', answering(`"${'x'.repeat(3 * 2 ** 20)}"`), 'the response is longer than 2 MiB'],
    ['hangs up', (request) => request.socket.destroy(), 'the server closed the connection'],
    [
      'leads nowhere',
      status(302, { location: 'http://[' }),
      'the server redirects to an invalid URL; check the URL of the connector',
    ],
    [
      'leads in a circle',
      status(302, { location: '/again' }),
      'the server redirects too often; check the URL of the connector',
    ],
    [
      'leads on without saying where',
      status(302),
      'the server answered with HTTP 302; check the URL of the connector, or try again later',
    ],
  ])('fails for a catalogue that %s, without showing its content', async (_name, answer, fault) => {
    const { url } = await catalogueServer(answer);
    const found = await fetch(url);
    expect(found).toEqual({ kind: 'failed', fault: expect.stringContaining(fault) });
    expect(JSON.stringify(found)).not.toContain('s3cret');
  });

  test('follows redirects within the origin', async () => {
    const { url, asked } = await catalogueServer((request, response) => {
      if (request.url === '/moved') answering(BODY)(request, response);
      else response.writeHead(308, { location: '/moved' }).end();
    });
    expect(await fetch(url, { headers: { 'x-key': 'k' } })).toEqual({ kind: 'fresh', body: BODY });
    expect(asked.map((it) => [it.url, it.headers['x-key']])).toEqual([
      ['/catalogue', 'k'],
      ['/moved', 'k'],
    ]);
  });

  test('sends headers to no other origin', async () => {
    const other = await catalogueServer(answering(BODY));
    const { url } = await catalogueServer(status(302, { location: other.url }));
    expect(await fetch(url, { headers: { authorization: 'Bearer t' } })).toEqual({
      kind: 'failed',
      fault: expect.stringContaining('another host'),
    });
    expect(other.asked).toEqual([]);
  });

  test('fails after the timeout', async () => {
    const { url } = await catalogueServer(() => {});
    expect(await fetch(url, { limitMs: 50 })).toEqual({
      kind: 'failed',
      fault: expect.stringContaining('the request timed out'),
    });
  });

  test('fails if the response stops in the middle', async () => {
    const { url } = await catalogueServer((_request, response) => void response.writeHead(200).write('{'));
    expect(await fetch(url, { limitMs: 50 })).toMatchObject({ kind: 'failed' });
  });

  test('an abort ends the request at once', async () => {
    const giveUp = new AbortController();
    const { promise: hangUp, resolve } = Promise.withResolvers<void>();
    const { url } = await catalogueServer((request) => {
      void once(request.socket, 'close').then(() => resolve());
      giveUp.abort();
    });
    expect(await fetch(url, { signal: giveUp.signal })).toMatchObject({ kind: 'failed' });
    await hangUp;
  });

  test.each<[string, Partial<ConnectorRequest>, string]>([
    ['a header that cannot be sent', { headers: { a: 's3cret\nb' } }, 'invalid "headers"'],
    [
      'a proxy that cannot be used',
      { env: { https_proxy: 'socks5://s3cret' } },
      'the proxy URL in the environment',
    ],
  ])('reports %s without showing it', async (_name, more, fault) => {
    const found = await fetch('https://catalogue.invalid/', more);
    expect(found).toEqual({ kind: 'failed', fault: expect.stringContaining(fault) });
    expect(JSON.stringify(found)).not.toContain('s3cret');
  });

  test('describes a refused connection', async () => {
    expect(await fetch('http://127.0.0.1:1/')).toEqual({
      kind: 'failed',
      fault: expect.stringContaining('connection refused'),
    });
  });
});
