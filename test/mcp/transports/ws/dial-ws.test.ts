import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { dialWs } from '../../../../src/mcp/transports/ws/dial-ws.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { startProxy } from '../../support/proxy.ts';
import { reach, unreached } from '../../support/reach.ts';
import { testWorld } from '../../support/servers.ts';
import { startWs } from './ws-server.ts';

const text = (value: string) => [{ type: 'text', text: value }];

describe('a server behind a WebSocket (R156)', () => {
  test.each(['text', 'binary'] as const)('answers in %s frames', async (frames) => {
    await using web = await startWs({ frames });
    await using far = await reach({ type: 'ws', url: web.url, headers: { 'X-Key': 'k' } });
    expect((await far.call('act', { what: 'hi' })).content).toEqual(text('hi'));
    expect(web.seen).toMatchObject([{ protocol: 'mcp', headers: { 'x-key': 'k' } }]);
    expect(web.seen[0]?.headers['sec-websocket-extensions']).toBeUndefined();
  });

  test('is asked for its era in place', async () => {
    await using web = await startWs();
    await using far = await reach({ type: 'ws', url: web.url }, testWorld(), 'auto');
    expect(far.client.getProtocolEra()).toBe('legacy');
    expect((await far.call('act', { what: 'hi' })).content).toEqual(text('hi'));
    expect(web.seen).toHaveLength(1);
  });

  test('is left with a proper farewell', async () => {
    await using web = await startWs();
    const far = await reach({ type: 'ws', url: web.url });
    const code = new Promise((resolve) => web.sockets[0]?.on('close', resolve));
    await far.dialed.close();
    expect(await code).toBe(1000);
    await far.closed;
  });

  test('may send a frame of nonsense, which is told and passed over', async () => {
    await using web = await startWs();
    await using far = await reach({ type: 'ws', url: web.url });
    expect((await far.call('act', { what: 'garbage' })).content).toEqual(text('garbage'));
    expect(far.errors.map(({ message }) => message)).toEqual(['received a frame that is not JSON']);
  });
});

test('a message that is too long fails its own call, and no other', async () => {
  await using web = await startWs();
  await using far = await reach({ type: 'ws', url: web.url, maxFrameBytes: 1000 });
  const other = far.call('act', { what: 'wait' });
  await expect(far.call('act', { what: 'long' })).rejects.toMatchObject({
    code: -31413,
    message: expect.stringMatching(
      /the server sent a message of 5\d+ bytes, more than the limit of 1000; raise "maxFrameBytes"/,
    ),
  });
  expect((await far.call('act', { what: 'go' })).content).toEqual(text('go'));
  expect((await other).content).toEqual(text('wait'));
});

test.each([
  ['a member too many', (id: unknown) => ({ jsonrpc: '2.0', id, result: { content: [] }, error: null })],
  ['no version', (id: unknown) => ({ id, result: { content: [] } })],
  ['a list around it', (id: unknown) => [{ jsonrpc: '2.0', id, result: { content: [] } }]],
  ['metadata of null', (id: unknown) => ({ jsonrpc: '2.0', id, result: { content: [], _meta: null } })],
])('an answer with %s is taken', async (_name, shape) => {
  await using web = await startWs({ frames: 'text', answer: shape });
  await using far = await reach({ type: 'ws', url: web.url });
  expect(await far.call('act', { what: 'shaped' })).toEqual({ content: [] });
});

describe('the end of a socket', () => {
  test.each([
    ['close', 'stream-ended', 'the server closed the socket with code 4001: token=[redacted] tired'],
    ['terminate', 'stream-ended', 'the server closed the socket with code 1006'],
    [
      'much too long',
      'stream-ended',
      'the server sent a message of more than 16777216 bytes, which closes the connection; raise "maxFrameBytes" in its entry or return less from the tool',
    ],
  ])('(%s) is told to the call with its reason, then the connection is over', async (what, code, message) => {
    await using web = await startWs();
    await using far = await reach({ type: 'ws', url: web.url, maxFrameBytes: 1000 });
    await expect(far.call('act', { what })).rejects.toMatchObject({ code, message });
    await far.closed;
    await expect(far.call('act', { what: 'x' })).rejects.toThrow();
  });

  test('that is half open is noticed by its silence', async () => {
    await using web = await startWs();
    const dialed = await dialWs('srv', { url: web.url }, testWorld(), 20);
    const closed = Promise.withResolvers<void>();
    const errors: Error[] = [];
    dialed.transport.onclose = () => closed.resolve();
    dialed.transport.onerror = (error) => errors.push(error);
    await dialed.transport.start();
    await expect.poll(() => web.sockets.length).toBe(1);
    // The server stops reading, so it answers no pings.
    web.sockets[0]?.pause();
    await closed.promise;
    expect(errors.map(({ message }) => message)).toEqual(['the server stopped responding to pings']);
    await dialed.close();
  });

  test('that answers pings stays open', async () => {
    await using web = await startWs();
    const dialed = await dialWs('srv', { url: web.url }, testWorld(), 10);
    let isClosed = false;
    dialed.transport.onclose = () => {
      isClosed = true;
    };
    await dialed.transport.start();
    let pings = 0;
    await expect.poll(() => web.sockets.length).toBe(1);
    await new Promise<void>((resolve) => {
      web.sockets[0]?.on('ping', () => {
        if (++pings === 6) resolve();
      });
    });
    expect(isClosed).toBe(false);
    await dialed.close();
  });
});

describe('a socket that does not open', () => {
  test('is told by its status, and a helper is asked once more', async () => {
    const helper = `echo '{"X-Key":"wrong"}'`;
    await using web = await startWs({ admits: (headers) => headers['x-key'] === 'right' });
    const entry = { type: 'ws' as const, url: web.url, headersHelper: helper };
    expect(await unreached(entry)).toMatchObject({ name: 'HttpError', status: 401 });
  });

  test('opens with the headers the helper gives the second time', async () => {
    const first: { key?: unknown } = {};
    const admits = (headers: Record<string, unknown>) => {
      first.key ??= headers['x-key'];
      return headers['x-key'] !== first.key;
    };
    await using web = await startWs({ admits });
    const helper = 'echo "{\\"X-Key\\":\\"$$\\"}"';
    await using far = await reach({ type: 'ws', url: web.url, headersHelper: helper });
    expect((await far.call('act', { what: 'hi' })).content).toEqual(text('hi'));
  });

  test.each([200, 404, 302])('since a web server answers %i', async (status) => {
    const web = createServer((_, response) =>
      response.writeHead(status, { location: 'http://127.0.0.1:1' }).end(),
    );
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const url = `ws://127.0.0.1:${(web.address() as AddressInfo).port}`;
    expect(await unreached({ type: 'ws', url })).toMatchObject({ name: 'HttpError', status });
    web.closeAllConnections();
    web.close();
  });

  test('sent nothing, since the connection was refused', async () => {
    const web = await startWs();
    await web[Symbol.asyncDispose]();
    const failure = await unreached({ type: 'ws', url: web.url });
    expect(failure).toMatchObject({ code: 'ECONNREFUSED', wasSent: false });
  });
});

test('TLS and the proxy of the environment are used as for HTTP', async () => {
  await using own = await makeCertificates();
  await using web = await startWs({ tls: own.server });
  await using proxy = await startProxy();
  expect(await unreached({ type: 'ws', url: web.url })).toMatchObject({
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    wasSent: false,
  });
  const tls = { ca: own.caPath };
  await using near = await reach({ type: 'ws', url: web.url, tls });
  expect((await near.call('act', { what: 'hi' })).content).toEqual(text('hi'));
  const world = testWorld({ env: { HTTPS_PROXY: `http://${proxy.host}` } });
  await using far = await reach({ type: 'ws', url: `wss://mcp.test:${web.port}/`, tls }, world);
  expect((await far.call('act', { what: 'hi' })).content).toEqual(text('hi'));
  expect(proxy.seen).toEqual([`CONNECT mcp.test:${web.port}`]);
});

test('a plain WebSocket goes through a tunnel too, and a proxy that refuses is named', async () => {
  await using web = await startWs();
  await using open = await startProxy();
  const url = `ws://mcp.test:${web.port}/`;
  await using far = await reach({ type: 'ws', url }, testWorld({ env: { HTTP_PROXY: open.host } }));
  expect((await far.call('act', { what: 'hi' })).content).toEqual(text('hi'));
  await using shut = await startProxy('Basic other');
  expect(await unreached({ type: 'ws', url }, testWorld({ env: { HTTP_PROXY: shut.host } }))).toMatchObject({
    name: 'HttpError',
    wasSent: false,
    message: `the proxy ${shut.host} refused the tunnel (HTTP 407); check the proxy variables of the environment`,
  });
});
