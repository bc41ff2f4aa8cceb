import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import { type AuthRequestError, createAuthFetch } from '../../../src/mcp/auth/auth-fetch.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { credentialStoreOf } from '../../../src/mcp/auth/credential-store.ts';
import { PLANTED, startHostileServer, tokens } from '../../support/auth/hostile-server.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A server that keeps requests until the test answers them. */
async function holdingServer() {
  const held: ServerResponse[] = [];
  const http = createServer((_, response) => void held.push(response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    held,
    url: new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`),
    [Symbol.dispose]: () => {
      http.close();
      http.closeAllConnections();
    },
  };
}

test('a POST may take longer than a GET', async () => {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms / 20));
  using server = await holdingServer();
  const fetch = createAuthFetch({ server: server.url, env: {} });
  const posted = fetch(server.url, { method: 'POST', body: 'refresh_token=a' });
  await expect(fetch(server.url)).rejects.toMatchObject({ reason: 'network' });
  for (const response of server.held) response.end('{}');
  expect((await posted).status).toBe(200);
});

test('a failure says whether a request may have been sent', async () => {
  using server = await holdingServer();
  const { url } = server;
  const fetch = createAuthFetch({ server: url, env: {} });
  const failed = (target: string | URL) =>
    fetch(target, { method: 'POST', body: 'a' }).catch(({ reason }: AuthRequestError) => reason);
  const broken = failed(url);
  await vi.waitUntil(() => server.held.length > 0);
  server.held[0]?.destroy();
  expect(await broken).toBe('network');
  server[Symbol.dispose]();
  expect(await failed(url)).toBe('connect');
  expect(await failed(`http://localhost:${url.port}`)).toBe('connect');
  expect(await failed('https://name.invalid')).toBe('connect');
});

/** An account at a server whose token endpoint does what `refresh` says; the access token has expired. */
async function expiredAccount(refresh: () => object) {
  const server = await startHostileServer({
    tokens: ({ body }) => (body.includes('refresh_token=') ? { body: refresh() } : { body: tokens() }),
  });
  const { url, origin } = server;
  const values = new Map<string, string>();
  const program = {
    get: async (key: string) => values.get(key),
    set: async (key: string, value: string) => void values.set(key, value),
    delete: async (key: string) => void values.delete(key),
  };
  const store = credentialStoreOf(program);
  await store.write({
    server: url,
    issuer: origin,
    authorizationServer: { url: origin, issuer: origin },
    client: { client_id: 'client', origin: 'registered' },
    tokens: {
      accessToken: 'expired',
      refreshToken: PLANTED.refreshToken,
      tokenType: 'Bearer',
      obtainedAt: 0,
      expiresAt: 1,
    },
  });
  return { ...server, store, program };
}

test('a refresh token is sent once if the connection breaks before the response, and again by the next renewal', async () => {
  let isBroken = true;
  const refresh = () => {
    if (!isBroken) return tokens();
    isBroken = false;
    throw new Error('the connection breaks');
  };
  using server = await expiredAccount(refresh);
  const { url, store } = server;
  const renewal = { server: 'docs', entry: { url }, refused: 'expired' };
  const auth = new ServerAuth({ store, env: {} });
  await expect(auth.renew(renewal)).rejects.toMatchObject({ authCode: 'unreachable' });
  expect(server.at('/token')).toHaveLength(1);
  await auth.renew(renewal);
  expect(server.at('/token')).toHaveLength(2);
  expect((await store.read(url))?.tokens?.accessToken).toBe(PLANTED.accessToken);
});

test('the time limit of a connection applies while a token is renewed, and its message says so', async () => {
  const over = Promise.withResolvers<undefined>();
  using server = await expiredAccount(() => () => over.promise);
  const { url, program } = server;
  await using host = createHost({
    mcpServers: { docs: { type: 'http', url, connectTimeoutMs: 300 } },
    cacheDirectory: false,
    auth: { store: program },
  });
  const failure = await host.ready({ servers: ['docs'] }).catch((it: unknown) => it);
  expect(failure).toMatchObject({
    code: 'timeout',
    detail: expect.stringContaining('its authorization server had not yet renewed the access token'),
  });
  over.resolve(undefined);
});
