import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { cachePath, readCache } from '../../../../src/config/sources/connectors/connector-cache.ts';
import { connectorSource } from '../../../../src/config/sources/connectors/connector-source.ts';
import {
  type RefreshOptions,
  refreshConnectors,
} from '../../../../src/config/sources/connectors/refresh-connectors.ts';
import { addressLabel } from '../../../../src/config/sources/labels.ts';
import { configPlace } from '../../config-place.ts';
import { answering, catalogueServer } from './catalogue-server.ts';

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
      refreshConnectors({ home, env: {} }, urls.map(named), { ...options, ...more }),
    source: (url: string) => connectorSource(named(url), home),
  };
}

test('R167: a catalogue is fetched apart and what it said is read from disk, until it says something else', async () => {
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

test('the same answer without a tag is no change', async () => {
  const { refresh } = setUp();
  const { url } = await catalogueServer(answering(BODY));
  expect(await refresh([url])).toEqual({ changed: true });
  expect(await refresh([url])).toEqual({ changed: false });
});

test('what a connector may not say is told when it is read, and the rest counts', async () => {
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

test('one that fails is one note, keeps what it said before, and harms no other', async () => {
  const { notes, refresh, source } = setUp();
  let answer: RequestListener = answering(BODY);
  const bad = await catalogueServer((request, response) => answer(request, response));
  const good = await catalogueServer(answering(BODY));
  await refresh([bad.url]);
  answer = (_request, response) => void response.writeHead(500).end();
  expect(await refresh([`${bad.url}`, good.url])).toEqual({ changed: true });
  expect(notes).toEqual([`${bad.url}: it answered with HTTP 500`]);
  expect(await source(bad.url)).toMatchObject({ servers: [{ name: 'a' }] });
  expect(await source(good.url)).toMatchObject({ servers: [{ name: 'a' }] });
});

test('no note shows the query of an address', async () => {
  const { notes, refresh } = setUp();
  const { url } = await catalogueServer((_request, response) => void response.writeHead(404).end());
  await refresh([`${url}?token=s3cret`]);
  expect(notes).toEqual([`${url}: it answered with HTTP 404`]);
});

test('headers that cannot be made are told, and nothing is sent', async () => {
  const { notes, refresh } = setUp();
  const { url, asked } = await catalogueServer(answering(BODY));
  const expandHeaders = () => {
    throw new Error('headers.authorization names TOKEN, which is not set');
  };
  expect(await refresh([url], { expandHeaders })).toEqual({ changed: false });
  expect(notes).toEqual([`${url}: headers.authorization names TOKEN, which is not set`]);
  expect(asked).toEqual([]);
});

test('who gives up hears nothing of it', async () => {
  const { notes, refresh } = setUp();
  const giveUp = new AbortController();
  const { url } = await catalogueServer(() => giveUp.abort());
  expect(await refresh([url], { signal: giveUp.signal })).toEqual({ changed: false });
  expect(notes).toEqual([]);
});

test('what cannot be kept is told', async () => {
  const { notes, named } = setUp();
  const { url } = await catalogueServer(answering(BODY));
  const place = configPlace();
  const home = place.write(`${place.project}/file`, 'x');
  const found = refreshConnectors({ home, env: {} }, [named(url)], {
    signal: AbortSignal.timeout(5_000),
    expandHeaders: (headers) => headers,
    note: (text) => void notes.push(text),
  });
  expect(await found).toEqual({ changed: false });
  expect(notes).toEqual([`${url}: it could not be kept`]);
});
