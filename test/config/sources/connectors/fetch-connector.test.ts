import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import {
  type ConnectorRequest,
  fetchConnector,
} from '../../../../src/config/sources/connectors/fetch-connector.ts';
import { answering, catalogueServer } from './catalogue-server.ts';

const BODY = { mcpServers: { a: { url: 'https://a.example/mcp' } } };

function fetch(url: string, more: Partial<ConnectorRequest> = {}) {
  return fetchConnector({ url, headers: {}, env: {}, signal: AbortSignal.timeout(5_000), ...more });
}

test('R167: what a catalogue says is taken with its tag, whatever type it claims', async () => {
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

test('a catalogue that has not changed says so', async () => {
  const { url, asked } = await catalogueServer((_request, response) => void response.writeHead(304).end());
  expect(await fetch(url, { etag: '"1"', headers: { Accept: 'x/y', 'If-None-Match': '"0"' } })).toEqual({
    kind: 'same',
  });
  expect(asked[0]?.headers.accept).toBe('x/y');
  expect(asked[0]?.headers['if-none-match']).toBe('"1"');
  expect(await fetch(url)).toEqual({ kind: 'failed', fault: 'it answered with HTTP 304' });
});

const status = (code: number, headers: Record<string, string> = {}): RequestListener => {
  return (_request, response) => void response.writeHead(code, headers).end('s3cret');
};

test.each<[string, RequestListener, string]>([
  ['fails', status(500), 'it answered with HTTP 500'],
  ['refuses us', status(401), 'it refuses us (HTTP 401); check its "headers"'],
  ['gives no JSON', answering('s3cret'), 'its answer is no JSON object with "mcpServers"'],
  ['gives a list', answering([1]), 'its answer is no JSON object with "mcpServers"'],
  ['names no servers', answering({ servers: {} }), 'its answer is no JSON object with "mcpServers"'],
  [
    'gives servers that are none',
    answering({ mcpServers: [] }),
    'its answer is no JSON object with "mcpServers"',
  ],
  ['nests without end', answering('['.repeat(100_000)), 'its answer is no JSON object with "mcpServers"'],
  ['says too much', answering(`"${'x'.repeat(3 * 2 ** 20)}"`), 'its answer is longer than 2 MiB'],
  ['hangs up', (request) => request.socket.destroy(), 'the other side closed the connection'],
  ['leads nowhere', status(302, { location: 'http://[' }), 'it leads to an address that is none'],
  ['leads in a circle', status(302, { location: '/again' }), 'it leads from address to address without end'],
  ['leads on without saying where', status(302), 'it answered with HTTP 302'],
])('one that %s has failed, and nothing of it is shown', async (_name, answer, fault) => {
  const { url } = await catalogueServer(answer);
  const found = await fetch(url);
  expect(found).toEqual({ kind: 'failed', fault: expect.stringContaining(fault) });
  expect(JSON.stringify(found)).not.toContain('s3cret');
});

test('it may lead on within its own origin', async () => {
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

test('headers go to no other origin', async () => {
  const other = await catalogueServer(answering(BODY));
  const { url } = await catalogueServer(status(302, { location: other.url }));
  expect(await fetch(url, { headers: { authorization: 'Bearer t' } })).toEqual({
    kind: 'failed',
    fault: expect.stringContaining('another host'),
  });
  expect(other.asked).toEqual([]);
});

test('one that does not answer in time is given up', async () => {
  const { url } = await catalogueServer(() => {});
  expect(await fetch(url, { limitMs: 50 })).toEqual({
    kind: 'failed',
    fault: expect.stringContaining('did not answer in time'),
  });
});

test('one that stops in the middle of its answer is given up', async () => {
  const { url } = await catalogueServer((_request, response) => void response.writeHead(200).write('{'));
  expect(await fetch(url, { limitMs: 50 })).toMatchObject({ kind: 'failed' });
});

test('who gives up is not kept waiting', async () => {
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
  ['a header that cannot be sent', { headers: { a: 's3cret\nb' } }, 'cannot be sent'],
  ['a proxy that cannot be used', { env: { https_proxy: 'socks5://s3cret' } }, 'names a proxy'],
])('%s is told and not shown', async (_name, more, fault) => {
  const found = await fetch('https://catalogue.invalid/', more);
  expect(found).toEqual({ kind: 'failed', fault: expect.stringContaining(fault) });
  expect(JSON.stringify(found)).not.toContain('s3cret');
});

test('one that nobody serves is told in words', async () => {
  expect(await fetch('http://127.0.0.1:1/')).toEqual({
    kind: 'failed',
    fault: expect.stringContaining('nobody listens there'),
  });
});
