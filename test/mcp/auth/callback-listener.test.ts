import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { listenForCallback } from '../../../src/mcp/auth/callback-listener.ts';

const listen = (more: Partial<Parameters<typeof listenForCallback>[0]> = {}) =>
  listenForCallback({
    server: 'docs',
    host: '127.0.0.1',
    state: 'right',
    signal: new AbortController().signal,
    ...more,
  });

/** Sends a request to the listener, by default with the host of the redirect URI as `Host`. */
async function send(
  port: number,
  path: string,
  method = 'GET',
  host = `127.0.0.1:${port}`,
  address = '127.0.0.1',
) {
  const sent = request({ port, host: address, path, method, headers: { host } });
  sent.end();
  const [response] = await once(sent, 'response');
  return { status: response.statusCode as number, headers: response.headers, page: await text(response) };
}

test.each<[string, string, string?, string?]>([
  ['without a state', '/callback?code=x'],
  ['with a wrong state', '/callback?code=x&state=wrong'],
  ['with the state of a prefix', '/callback?code=x&state=righ'],
  ['for another path', '/other?code=x&state=right'],
  ['for the path with a slash', '/callback/?code=x&state=right'],
  ['with POST', '/callback?code=x&state=right', 'POST'],
  ['with another host', '/callback?code=x&state=right', 'GET', 'evil.test'],
  ['with the host in another spelling', '/callback?code=x&state=right', 'GET', 'localhost'],
  ['with a long address', `/callback?state=right&code=${'x'.repeat(9000)}`],
])('a request %s is refused, and the listener goes on waiting (R177)', async (_, path, method, host) => {
  await using listener = await listen();
  expect((await send(listener.port, path, method, host)).status).toBe(400);
  expect((await send(listener.port, '/callback?code=good&state=right')).status).toBe(200);
  expect((await listener.received).searchParams.get('code')).toBe('good');
});

test('the page says how the sign-in ended and repeats nothing of the request', async () => {
  await using listener = await listen();
  const { page, headers } = await send(
    listener.port,
    '/callback?state=right&error=%3Cscript%3E&error_description=%3Cscript%3E',
  );
  expect(page).toContain('The sign-in was refused. You can close this window.');
  expect(page).not.toMatch(/script/i);
  expect(headers).toMatchObject({
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
});

test('only the first redirect counts, also of many at once', async () => {
  await using listener = await listen();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => send(listener.port, `/callback?code=${at}&state=right`)),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect((await listener.received).searchParams.get('code')).toMatch(/^\d+$/);
});

test('a port that is in use is named; the end of the listener and an abort free it', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(listen({ port })).rejects.toMatchObject({
    authCode: 'port-in-use',
    detail: expect.stringContaining(`port ${port} `),
  });
  other.close();
  await once(other, 'close');
  for (const end of ['dispose', 'abort']) {
    const over = new AbortController();
    const listener = await listen({ port, host: 'localhost', signal: over.signal });
    expect(listener.redirectUri).toBe(`http://localhost:${port}/callback`);
    if (end === 'abort') over.abort();
    await listener[Symbol.asyncDispose]();
  }
  await expect(listen({ port, signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
  await expect(fetch(`http://127.0.0.1:${port}/callback`)).rejects.toThrow();
});

test('an aborted sign-in closes connections that sent nothing', async () => {
  const over = new AbortController();
  const listener = await listen({ signal: over.signal });
  const socket = connect(listener.port, '127.0.0.1');
  await once(socket, 'connect');
  // When this request is answered, the listener has also accepted the earlier connection.
  await send(listener.port, '/other');
  const closed = once(socket, 'close');
  socket.resume();
  over.abort();
  await listener[Symbol.asyncDispose]();
  await closed;
});

test.each(['given', 'free'])(
  'a redirect to localhost with a %s port arrives over IPv6 and IPv4',
  async (kind) => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    await using listener = await listen({ host: 'localhost', ...(kind === 'given' && { port }) });
    for (const host of ['127.0.0.1', '::1'])
      expect(
        (await send(listener.port, '/callback?code=x&state=right', 'GET', `localhost:${listener.port}`, host))
          .status,
      ).toBe(200);
    expect((await listener.received).searchParams.get('code')).toBe('x');
  },
);
