import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import type { AuthStore } from '../../../src/mcp/auth/auth-types.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import { Servers } from '../../../src/mcp/servers/servers.ts';
import { startWs } from '../transports/ws/ws-server.ts';

/** An authorization server and an MCP server that requires its tokens, on one origin. */
async function protectedServer() {
  const codes = new Map<string, URLSearchParams>();
  const valid = new Set<string>();
  const counts: Record<string, number> = {};
  const refreshTokens = new Set<string>();
  const revocations: string[] = [];
  let isRevoking = true;
  let isOpen = true;
  let origin = '';
  const accepts = ({ authorization }: IncomingHttpHeaders) =>
    valid.has(authorization?.slice('Bearer '.length) ?? '');
  const issue = () => {
    const [access_token, refresh_token] = [randomUUID(), randomUUID()];
    valid.add(access_token);
    refreshTokens.add(refresh_token);
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: 3600 };
  };
  const grants: Record<string, (form: URLSearchParams) => object | undefined> = {
    authorization_code(form) {
      const asked = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      return asked?.get('code_challenge') === challenge ? issue() : undefined;
    },
    refresh_token: (form) => (refreshTokens.delete(form.get('refresh_token') ?? '') ? issue() : undefined),
  };
  const reply = (response: ServerResponse, status: number, body: object, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', origin);
    const body = await text(request);
    counts[url.pathname] = (counts[url.pathname] ?? 0) + 1;
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return reply(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (url.pathname === '/.well-known/oauth-authorization-server')
      return reply(response, 200, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        revocation_endpoint: `${origin}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      });
    if (url.pathname === '/register')
      return reply(response, 201, { ...JSON.parse(body), client_id: 'client-1' });
    if (url.pathname === '/authorize') {
      const code = randomUUID();
      codes.set(code, url.searchParams);
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = `${new URLSearchParams({ code, state: url.searchParams.get('state') ?? '', iss: origin })}`;
      return response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/token') {
      const form = new URLSearchParams(body);
      const made = grants[form.get('grant_type') ?? '']?.(form);
      return made
        ? reply(response, 200, made)
        : reply(response, 400, { error: 'invalid_grant', error_description: body });
    }
    if (url.pathname === '/revoke') {
      revocations.push(new URLSearchParams(body).get('token_type_hint') ?? '');
      return reply(response, isRevoking ? 200 : 503, {});
    }
    if (url.pathname !== '/mcp') return reply(response, 404, {});
    if (!isOpen || !accepts(request.headers))
      return reply(response, 401, {}, { 'www-authenticate': 'Bearer error="invalid_token"' });
    if (request.method !== 'POST') return reply(response, 405, {});
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'protected', version: '1' },
      },
      'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'hello' }] },
    };
    const result = results[method];
    const error = { code: -32601, message: 'unknown method' };
    return reply(response, 200, { jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
  };
  const http = createServer((request, response) => void handle(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    counts,
    accepts,
    metadataUrl: `${origin}/.well-known/oauth-authorization-server`,
    revocations,
    refuseTokens: () => {
      isOpen = false;
    },
    refuseRevocations: () => {
      isRevoking = false;
    },
    revokeAccess: () => valid.clear(),
    revokeAll: () => {
      valid.clear();
      refreshTokens.clear();
    },
    [Symbol.dispose]: () => {
      http.close();
      http.closeAllConnections();
    },
  };
}

test('a host signs in with PKCE through the loopback redirect, refreshes once and signs in again (R176, R177)', async () => {
  using server = await protectedServer();
  const asked: URL[] = [];
  await using host = createHost({
    mcpServers: { docs: { type: 'http', url: server.url } },
    cacheDirectory: false,
    // The browser follows the redirect to the local port.
    auth: {
      store: 'memory',
      onAuthorize: async (url) => {
        asked.push(url);
        await (await fetch(url)).text();
        return undefined;
      },
    },
  });
  await host.ready({ servers: ['docs'] });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.searchParams.get('code_challenge_method')).toBe('S256');
  expect(asked[0]?.searchParams.get('resource')).toBe(server.url);
  const call = async () => (await host.callTool('docs', 'hello')).content;
  const hello = [{ type: 'text', text: 'hello' }];
  expect(await call()).toEqual(hello);
  // Concurrent calls with a refused token share one refresh.
  server.revokeAccess();
  const tokenRequests = server.counts['/token'] ?? 0;
  expect(await Promise.all([call(), call(), call()])).toEqual([hello, hello, hello]);
  expect(server.counts['/token']).toBe(tokenRequests + 1);
  // A lost refresh token requires a sign-in.
  server.revokeAll();
  expect(await call()).toEqual(hello);
  expect(asked).toHaveLength(2);
  expect(server.counts['/register']).toBeLessThanOrEqual(2);
});

test('without onAuthorize a server that requires a sign-in is in the state needs-auth', async () => {
  using server = await protectedServer();
  await using host = createHost({
    mcpServers: { docs: { type: 'http', url: server.url } },
    cacheDirectory: false,
  });
  await expect(host.ready({ servers: ['docs'] })).rejects.toMatchObject({ code: 'unauthorized' });
  expect(host.status().docs?.state).toBe('needs-auth');
  expect(server.counts['/register']).toBeUndefined();
});

test('a redirect with another state ends the sign-in, and no token is requested', async () => {
  using server = await protectedServer();
  await using host = createHost({
    mcpServers: { docs: { type: 'http', url: server.url } },
    cacheDirectory: false,
    auth: {
      store: 'memory',
      onAuthorize: async (_, { redirectUri }) => `${redirectUri}?code=stolen&state=forged`,
    },
  });
  const failure = await host.ready({ servers: ['docs'] }).catch((it: unknown) => it);
  expect(failure).toMatchObject({ code: 'unauthorized' });
  expect(String(failure)).not.toContain('stolen');
  expect(server.counts['/token']).toBeUndefined();
});

test('a sign-in in two steps is completed by the redirect URL; the status has no secret; a sign-out revokes and deletes', async () => {
  using server = await protectedServer();
  const store = memoryCredentialStore();
  const auth = new ServerAuth({ store, env: {} });
  const entry = { url: `${server.url}#fragment` };
  expect(await auth.status('docs', entry)).toEqual({ kind: 'none', state: 'none' });
  using changes = countChanges(store);
  const pending = await auth.begin('docs', entry, { signal: new AbortController().signal });
  expect(pending.redirectUri).toBe(`http://127.0.0.1:${pending.port}/callback`);
  const { headers } = await fetch(pending.url, { redirect: 'manual' });
  pending.complete(headers.get('location') ?? '');
  const account = await pending.done;
  expect(await store.list()).toEqual([account]);
  const status = await auth.status('docs', entry);
  expect(status).toMatchObject({ kind: 'oauth', state: 'authorized', store: 'memory' });
  expect(status.issuer).toBe(new URL(server.url).origin);
  expect(Date.parse(status.expiresAt ?? '')).toBeGreaterThan(Date.now());
  expect(JSON.stringify(status)).not.toContain(account.tokens?.accessToken);
  const request = { method: 'POST', url: new URL(server.url) };
  expect(await auth.authorizer('docs', entry)?.headers(request)).toHaveProperty('authorization');
  expect(await auth.signOut('docs', entry)).toEqual({ removed: true, revoked: 'yes' });
  expect(server.revocations).toEqual(['refresh_token', 'access_token']);
  expect(await auth.authorizer('docs', entry)?.headers(request)).toEqual({});
  expect(await store.list()).toEqual([]);
  expect(await auth.signOut('docs', entry)).toEqual({ removed: false, revoked: 'unsupported' });
  expect(changes.count).toBeGreaterThanOrEqual(2);
});

test('a sign-out deletes the account also if the authorization server does not revoke the tokens', async () => {
  using server = await protectedServer();
  server.refuseRevocations();
  const store = memoryCredentialStore();
  const auth = new ServerAuth({ store, env: {}, onAuthorize: browser });
  const entry = { url: server.url };
  await auth.signIn('docs', entry, { signal: new AbortController().signal });
  expect(await auth.signOut('docs', entry)).toEqual({ removed: true, revoked: 'no' });
  expect(await store.read(server.url)).toBeUndefined();
});

test.each([
  [{ headers: { Authorization: 'Bearer x' } }, { kind: 'header', state: 'authorized' }],
  [{ headersHelper: 'print-headers' }, { kind: 'helper', state: 'authorized' }],
  [{ oauth: { clientId: 'c' } }, { kind: 'oauth', state: 'needs-auth' }],
  [{ oauth: { grant: 'client-credentials' } }, { kind: 'client-credentials', state: 'none' }],
  [{ oauth: { xaa: true } }, { kind: 'xaa', state: 'none' }],
] as const)('the status without an account of %j is %j', async (members, status) => {
  const auth = new ServerAuth({ store: memoryCredentialStore(), env: {} });
  expect(await auth.status('docs', { url: 'https://mcp.example/', ...members })).toEqual(status);
});

test('an expired token without a refresh token is shown as expired, and lost tokens as needs-auth', async () => {
  const store = memoryCredentialStore();
  const auth = new ServerAuth({ store, env: {} });
  const entry = { url: 'https://mcp.example/' };
  const issuer = 'https://idp.example';
  const base = {
    server: entry.url,
    issuer,
    authorizationServer: { url: issuer, issuer },
    client: { client_id: 'c', origin: 'registered' as const },
  };
  const tokens = { accessToken: 'a', tokenType: 'Bearer', obtainedAt: 0, expiresAt: 1000, scope: 'x y' };
  const state = async () => (await auth.status('docs', entry)).state;
  await store.write({ ...base, tokens });
  expect(await auth.status('docs', entry)).toEqual({
    kind: 'oauth',
    state: 'expired',
    expiresAt: '1970-01-01T00:00:01.000Z',
    scopes: ['x', 'y'],
    issuer,
    store: 'memory',
  });
  await store.write({ ...base, tokens: { ...tokens, refreshToken: 'r' } });
  expect(await state()).toBe('authorized');
  await store.write({ ...base, lost: 'invalid_grant' });
  expect(await state()).toBe('needs-auth');
});

test('a WebSocket is opened with the access token, which is renewed if it is refused', async () => {
  using server = await protectedServer();
  await using web = await startWs({ admits: server.accepts });
  const asked: URL[] = [];
  await using host = createHost({
    mcpServers: { docs: { type: 'ws', url: web.url, oauth: { authServerMetadataUrl: server.metadataUrl } } },
    cacheDirectory: false,
    auth: { store: 'memory', onAuthorize: (url) => (asked.push(url) === 1 ? browser(url) : undefined) },
  });
  await host.ready({ servers: ['docs'] });
  server.revokeAccess();
  await host.reconnect('docs');
  const result = await host.callTool('docs', 'act', { what: 'hi' });
  expect(result.content).toEqual([{ type: 'text', text: 'hi' }]);
  expect([asked.length, server.counts['/token']]).toEqual([1, 2]);
});

/** A store of the program that outlives its hosts. */
function programStore(): AuthStore {
  const values = new Map<string, string>();
  return {
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
  };
}

test('lost tokens end in needs-auth with one warning and one token request (R182)', async () => {
  using server = await protectedServer();
  const store = programStore();
  const options = { mcpServers: { docs: { type: 'http', url: server.url } }, cacheDirectory: false } as const;
  await using first = createHost({ ...options, auth: { store, onAuthorize: browser } });
  await first.ready({ servers: ['docs'] });
  await using host = createHost({ ...options, auth: { store } });
  const warnings: string[] = [];
  host.events.on((event) => event.type === 'warning' && warnings.push(event.message));
  await host.ready({ servers: ['docs'] });
  server.revokeAll();
  const before = server.counts['/token'] ?? 0;
  const call = () => host.callTool('docs', 'hello');
  await expect(call()).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(call()).rejects.toMatchObject({ code: 'unauthorized' });
  expect(host.status().docs?.state).toBe('needs-auth');
  expect(server.counts['/token']).toBe(before + 1);
  expect(warnings).toEqual([expect.stringContaining('sign in again')]);
});

test('a server that refuses every token gets one refresh for a request', async () => {
  using server = await protectedServer();
  const store = programStore();
  await using host = createHost({
    mcpServers: { docs: { type: 'http', url: server.url } },
    cacheDirectory: false,
    auth: { store, onAuthorize: browser },
  });
  await host.ready({ servers: ['docs'] });
  server.refuseTokens();
  const before = server.counts['/token'] ?? 0;
  await using other = createHost({
    mcpServers: { docs: { type: 'http', url: server.url } },
    cacheDirectory: false,
    auth: { store },
  });
  await expect(other.ready({ servers: ['docs'] })).rejects.toMatchObject({ code: 'unauthorized' });
  expect(server.counts['/token']).toBe(before + 1);
});

test('a server in the state needs-auth is connected as soon as a person signs in elsewhere', async () => {
  using server = await protectedServer();
  const store = memoryCredentialStore();
  const connected = Promise.withResolvers<void>();
  const context = {
    env: {},
    connectTimeoutMs: 30_000,
    clientInfo: { name: 'test', version: '1' },
    auth: new ServerAuth({ store, env: {} }),
  };
  await using servers = new Servers(context, {
    onState: (_, { kind }) => kind === 'connected' && connected.resolve(),
  });
  const entry = { type: 'http', url: server.url } as const;
  servers.add({ docs: entry }, 'config');
  await servers.settled();
  expect(servers.all.get('docs')?.state.kind).toBe('needs-auth');
  const elsewhere = new ServerAuth({ store, env: {}, onAuthorize: browser });
  await elsewhere.signIn('docs', entry, { signal: new AbortController().signal });
  await connected.promise;
  expect(await elsewhere.signOut('docs', entry)).toMatchObject({ removed: true });
});

/** A browser in which the person signs in and consents. */
async function browser(url: URL): Promise<undefined> {
  await (await fetch(url)).text();
  return undefined;
}

function countChanges(store: ReturnType<typeof memoryCredentialStore>) {
  const counter = { count: 0, [Symbol.dispose]: () => watch[Symbol.dispose]() };
  const watch = store.watch(() => counter.count++);
  return counter;
}
