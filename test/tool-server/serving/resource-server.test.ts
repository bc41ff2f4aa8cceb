import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import type { CallerAuth } from '../../../src/tool-server/context.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import type { ResourceServerOptions } from '../../../src/tool-server/serving/resource-server.ts';

const AUDIENCE = 'https://tools.example.com/mcp';
const METADATA_URL = 'https://tools.example.com/.well-known/oauth-protected-resource/mcp';

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
const other = await generateKeyPair('ES256');
let issuer = '';
let keyRequests = 0;
/** Paths of requests, except those for keys. */
const lookups: string[] = [];
const authorizationServer = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (request.url !== '/jwks') lookups.push(String(request.url));
  if (request.url === '/.well-known/openid-configuration') {
    response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }));
  } else if (request.url === '/slash/.well-known/openid-configuration') {
    response.end(JSON.stringify({ issuer: `${issuer}/slash/`, jwks_uri: `${issuer}/jwks` }));
  } else if (request.url === '/moved/.well-known/openid-configuration') {
    response.end(JSON.stringify({ issuer: `${issuer}/moved`, jwks_uri: `${issuer}/jwks` }));
  } else if (request.url === '/.well-known/oauth-authorization-server/moved') {
    response.writeHead(302, { location: '/login' }).end();
  } else if (request.url === '/huge') {
    response.end(JSON.stringify({ keys: [], padding: 'x'.repeat(300 * 1024) }));
  } else if (request.url === '/jwks') {
    keyRequests++;
    void exportJWK(publicKey).then((key) => response.end(JSON.stringify({ keys: [{ ...key, kid: 'one' }] })));
  } else {
    response.writeHead(404).end('{}');
  }
});

beforeAll(async () => {
  authorizationServer.listen(0, '127.0.0.1');
  await once(authorizationServer, 'listening');
  issuer = `http://127.0.0.1:${(authorizationServer.address() as AddressInfo).port}`;
});
afterAll(() => {
  authorizationServer.close();
  authorizationServer.closeAllConnections();
});

const now = () => Math.floor(Date.now() / 1000);
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: issuer,
  aud: AUDIENCE,
  sub: 'ada',
  client_id: 'app',
  scope: 'use read',
  exp: now() + 300,
  ...changes,
});
const sign = (payload = claims(), key = privateKey, header: { kid?: string; typ?: string } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(key);
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A server with a tool for every caller and one that requires the scope `write`. */
async function serve(options: Partial<ResourceServerOptions> = {}, limits: { maxSessions?: number } = {}) {
  const callers: (CallerAuth | undefined)[] = [];
  const server = toolServer('notes')
    .tool('list', 'Lists notes', {}, (_args, ctx) => {
      callers.push(ctx.auth);
      return 'none';
    })
    .tool('remove', 'Removes notes', {}, (_args, ctx) => {
      callers.push(ctx.auth);
      return 'removed';
    });
  const auth = { issuer, audience: AUDIENCE, scopes: ['use'], toolScopes: { remove: ['write'] }, ...options };
  return { callers, http: await server.listen({ ...limits, auth }) };
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post(url: string, message: object, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
}

const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

function callStateless(url: string, name: string, authorization?: string) {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  const params = { name, arguments: {}, _meta: META };
  return post(
    url,
    { method: 'tools/call', params },
    authorization === undefined ? headers : { ...headers, authorization },
  );
}

describe('tokens', () => {
  const refused: [string, () => Promise<string> | string][] = [
    ['alg none', () => `${encode({ alg: 'none' })}.${encode(claims())}.`],
    [
      'HS256 with the public key as secret',
      async () =>
        new SignJWT(claims())
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(Buffer.from(await exportSPKI(publicKey))),
    ],
    ['a signature of another key', () => sign(claims(), other.privateKey)],
    ['an unknown key id', () => sign(claims(), privateKey, { kid: 'two' })],
    [
      'changed claims',
      async () => {
        const [head, , signature] = (await sign()).split('.');
        return `${head}.${encode(claims({ sub: 'eve' }))}.${signature}`;
      },
    ],
    ['another audience', () => sign(claims({ aud: 'https://other.example.com' }))],
    ['no audience', () => sign(claims({ aud: undefined as never }))],
    ['another issuer', () => sign(claims({ iss: 'https://other.example.com' }))],
    ['the issuer with a slash', () => sign(claims({ iss: `${issuer}/` }))],
    ['an expired token', () => sign(claims({ exp: now() - 60 }))],
    ['a token without expiry', () => sign(claims({ exp: undefined as never }))],
    ['a token that is not valid yet', () => sign(claims({ nbf: now() + 60 }))],
    ['a token without caller', () => sign(claims({ sub: undefined as never, client_id: undefined }))],
    ['a token with an empty caller', () => sign(claims({ sub: '', client_id: '' }))],
    ['a huge token', () => sign(claims({ filler: 'x'.repeat(6_200) }))],
    ['no JWT', () => 'opaque'],
  ];
  test.each(refused)('%s is refused with 401 invalid_token', async (_name, token) => {
    const { http, callers } = await serve();
    await using _ = http;
    const response = await callStateless(http.url, 'list', `Bearer ${await token()}`);
    expect(response.status).toBe(401);
    const challenge = response.headers.get('www-authenticate');
    expect(challenge).toContain('error="invalid_token"');
    expect(challenge).toContain(`resource_metadata="${METADATA_URL}"`);
    expect(callers).toEqual([]);
  });

  test.each([{ jkt: 'abc' }, { 'x5t#S256': 'abc' }, null])(
    'a token that is bound to a key of its sender (%j) is not accepted as bearer token',
    async (cnf) => {
      const { http, callers } = await serve();
      await using _ = http;
      const response = await callStateless(http.url, 'list', `Bearer ${await sign(claims({ cnf }))}`);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain(
        'error="invalid_token", error_description="the access token is bound to a key (cnf), and this server accepts only bearer tokens"',
      );
      expect(callers).toEqual([]);
    },
  );

  test.each(['logout+jwt', 'dpop+jwt', 'oauth-id-jag+jwt', 'secevent+jwt', 'application/logout+jwt', ''])(
    'a JWT of the type "%s" is not an access token',
    async (typ) => {
      const { http, callers } = await serve();
      await using _ = http;
      const token = await sign(claims(), privateKey, { typ });
      const response = await callStateless(http.url, 'list', `Bearer ${token}`);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain(
        'error="invalid_token", error_description="the JWT is not an access token (typ)"',
      );
      expect(callers).toEqual([]);
    },
  );

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT'])('the type "%s" is accepted', async (typ) => {
    const { http } = await serve();
    await using _ = http;
    const token = await sign(claims(), privateKey, { typ });
    expect((await callStateless(http.url, 'list', `Bearer ${token}`)).status).toBe(200);
  });

  test.each([undefined, 'Basic YTpi', 'Bearer', 'Bearer a b'])(
    'without a bearer token (%s) the challenge has no error and names the metadata and scopes',
    async (authorization) => {
      const { http } = await serve();
      await using _ = http;
      const response = await callStateless(http.url, 'list', authorization);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer scope="use", resource_metadata="${METADATA_URL}"`,
      );
    },
  );

  test('a valid token is accepted; ctx.auth has the caller, and the keys are loaded once', async () => {
    keyRequests = 0;
    const { http, callers } = await serve();
    await using _ = http;
    const token = await sign();
    for (const sent of [token, token, await sign(claims({ sub: 'bob', scope: undefined, scp: ['use'] }))]) {
      expect((await callStateless(http.url, 'list', `Bearer ${sent}`)).status).toBe(200);
    }
    expect(keyRequests).toBe(1);
    expect(callers[0]).toMatchObject({ issuer, subject: 'ada', clientId: 'app', scopes: ['use', 'read'] });
    expect(callers[0]?.claims.aud).toBe(AUDIENCE);
    expect(callers[1]).toEqual(callers[0]);
    expect(callers[2]).toMatchObject({ subject: 'bob', scopes: ['use'] });
  });

  test('a remembered token is refused after its expiry', async () => {
    const { http } = await serve({ clockToleranceS: 0 });
    await using _ = http;
    const token = `Bearer ${await sign(claims({ exp: now() + 2 }))}`;
    expect((await callStateless(http.url, 'list', token)).status).toBe(200);
    await expect
      .poll(async () => (await callStateless(http.url, 'list', token)).status, { timeout: 5000 })
      .toBe(401);
  });

  test('503 without challenge if the keys of the issuer cannot be loaded', async () => {
    const { http } = await serve({ jwksUri: `${issuer}/missing` });
    await using _ = http;
    const response = await callStateless(http.url, 'list', `Bearer ${await sign()}`);
    expect(response.status).toBe(503);
    expect(response.headers.get('www-authenticate')).toBeNull();
  });
});

describe('the keys of the issuer', () => {
  test('the next address is tried after a redirect', async () => {
    const { http } = await serve({ issuer: `${issuer}/moved` });
    await using _ = http;
    const token = await sign(claims({ iss: `${issuer}/moved` }));
    expect((await callStateless(http.url, 'list', `Bearer ${token}`)).status).toBe(200);
  });

  const failing: [string, () => Partial<ResourceServerOptions>, () => string][] = [
    [
      'the metadata names another issuer',
      () => ({ issuer: `${issuer}/slash` }),
      () =>
        `the keys of the issuer ${issuer}/slash cannot be found (${issuer}/.well-known/oauth-authorization-server/slash: HTTP status 404; ${issuer}/slash/.well-known/openid-configuration: the issuer in the metadata is "${issuer}/slash/")`,
    ],
    [
      'the keys are too large',
      () => ({ jwksUri: `${issuer}/huge` }),
      () =>
        `the keys of the issuer ${issuer} cannot be loaded from ${issuer}/huge: the response is too large`,
    ],
    [
      'the issuer cannot be reached',
      () => ({ issuer: 'http://127.0.0.1:1' }),
      () => 'the keys of the issuer http://127.0.0.1:1 cannot be found (',
    ],
    [
      'the address of the keys is wrong',
      () => ({ jwksUri: `${issuer}/missing` }),
      () => `the keys of the issuer ${issuer} cannot be loaded from ${issuer}/missing: `,
    ],
  ];
  test.each(failing)('%s: the option onKeyFailure is called once, without a request', async (...given) => {
    const [, options, message] = given;
    const failed = Promise.withResolvers<Error>();
    const failures: Error[] = [];
    const onKeyFailure = (error: Error) => {
      failures.push(error);
      failed.resolve(error);
    };
    const { http } = await serve({ ...options(), onKeyFailure });
    await using _ = http;
    expect((await failed.promise).message).toContain(message());
    const { issuer: iss = issuer } = options();
    const token = await sign(claims({ iss: String(iss) }));
    expect((await callStateless(http.url, 'list', `Bearer ${token}`)).status).toBe(503);
    expect(failures.length).toBe(1);
  });

  test.each([
    ['metadata', () => ({ issuer: `${issuer}/slash` }), 2],
    ['keys', () => ({ jwksUri: `${issuer}/missing` }), 1],
  ])('failing %s are requested at most every 5 seconds', async (_name, options, perLookup) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const failed = Promise.withResolvers<Error>();
    lookups.length = 0;
    const { http } = await serve({ ...options(), onKeyFailure: failed.resolve });
    await using _ = http;
    await failed.promise;
    const { issuer: iss = issuer } = options() as Partial<ResourceServerOptions>;
    const send = async () => {
      const token = await sign(claims({ iss: String(iss), jti: String(lookups.length) }));
      return (await callStateless(http.url, 'list', `Bearer ${token}`)).status;
    };
    expect([await send(), await send()]).toEqual([503, 503]);
    expect(lookups.length).toBe(perLookup);
    vi.setSystemTime(Date.now() + 5_000);
    expect([await send(), await send()]).toEqual([503, 503]);
    expect(lookups.length).toBe(2 * perLookup);
  });
});

describe('scopes', () => {
  test('a call without the scopes of its tool gets 403 before the handler runs', async () => {
    const { http, callers } = await serve();
    await using _ = http;
    const response = await callStateless(http.url, 'remove', `Bearer ${await sign()}`);
    expect(response.status).toBe(403);
    const challenge = response.headers.get('www-authenticate');
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="use write"');
    expect(callers).toEqual([]);
    const granted = `Bearer ${await sign(claims({ scope: 'use write' }))}`;
    expect((await callStateless(http.url, 'remove', granted)).status).toBe(200);
  });

  test('every request requires the common scopes', async () => {
    const { http } = await serve();
    await using _ = http;
    const authorization = `Bearer ${await sign(claims({ scope: 'read' }))}`;
    expect((await post(http.url, INITIALIZE, { authorization })).status).toBe(403);
    expect((await fetch(http.url, { headers: { authorization } })).status).toBe(403);
  });
});

test('a session belongs to the caller that opened it; other callers get 404', async () => {
  const { http, callers } = await serve();
  await using _ = http;
  const as = async (sub: string) => `Bearer ${await sign(claims({ sub, jti: String(Math.random()) }))}`;
  const opened = await post(http.url, INITIALIZE, { authorization: await as('ada') });
  const session = {
    'mcp-session-id': String(opened.headers.get('mcp-session-id')),
    'mcp-protocol-version': '2025-11-25',
  };
  const call = { method: 'tools/call', params: { name: 'list', arguments: {} } };
  const statuses: number[] = [];
  for (const sub of ['eve', 'ada']) {
    statuses.push((await post(http.url, call, { ...session, authorization: await as(sub) })).status);
  }
  statuses.push((await post(http.url, call, session)).status);
  const headers = { ...session, authorization: await as('eve') };
  statuses.push((await fetch(http.url, { method: 'DELETE', headers })).status);
  expect(statuses).toEqual([404, 200, 401, 404]);
  expect(callers.map((caller) => caller?.subject)).toEqual(['ada']);
});

test('a caller with many sessions closes its own for more, not those of others', async () => {
  const { http } = await serve({}, { maxSessions: 3 });
  await using _ = http;
  const as = async (sub: string) => `Bearer ${await sign(claims({ sub }))}`;
  const open = async (sub: string) => {
    const opened = await post(http.url, INITIALIZE, { authorization: await as(sub) });
    return { sub, id: String(opened.headers.get('mcp-session-id')) };
  };
  const statusOf = async ({ sub, id }: { sub: string; id: string }) => {
    const headers = { authorization: await as(sub), 'mcp-session-id': id };
    return (await post(http.url, { method: 'ping' }, headers)).status;
  };
  const ada = await open('ada');
  const eves = [await open('eve'), await open('eve'), await open('eve'), await open('eve')];
  expect(await statusOf(ada)).toBe(200);
  expect(await Promise.all(eves.map(statusOf))).toEqual([404, 404, 200, 200]);
  // A new caller takes the place of the caller with the most sessions.
  const bob = await open('bob');
  expect(await Promise.all([ada, bob, ...eves].map(statusOf))).toEqual([200, 200, 404, 404, 404, 200]);
}, 30_000);

describe('streams of an expired token', () => {
  /** Lets all tokens expire. */
  const passTime = () => vi.setSystemTime(Date.now() + 305_000);

  test('the stream of a session ends; a call that has started goes on', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const expired = Promise.withResolvers<void>();
    await using http = await toolServer('notes')
      .tool('wait', 'Waits', {}, async (_args, ctx) => {
        ctx.progress(1);
        await expired.promise;
        return 'done';
      })
      .listen({ auth: { issuer, audience: AUDIENCE } });
    const authorization = `Bearer ${await sign()}`;
    const opened = await post(http.url, INITIALIZE, { authorization });
    const headers = {
      authorization,
      'mcp-session-id': String(opened.headers.get('mcp-session-id')),
      'mcp-protocol-version': '2025-11-25',
    };
    await post(http.url, { id: undefined, method: 'notifications/initialized' }, headers);
    const params = { name: 'wait', arguments: {}, _meta: { progressToken: 'p' } };
    const call = await post(http.url, { method: 'tools/call', params }, headers);
    const stream = await fetch(http.url, { headers: { ...headers, accept: 'text/event-stream' } });
    expect(stream.status).toBe(200);
    passTime();
    await stream.text();
    expired.resolve();
    expect(await call.text()).toContain('done');
    expect((await fetch(http.url, { headers })).status).toBe(401);
  });

  test('a subscription of MCP 2026-07-28 ends with its result', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { http } = await serve();
    await using _ = http;
    const headers = {
      authorization: `Bearer ${await sign()}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    };
    const params = { notifications: { toolsListChanged: true }, _meta: META };
    const stream = await post(http.url, { method: 'subscriptions/listen', params }, headers);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    passTime();
    expect(await stream.text()).toContain('"result"');
  });
});

test('the metadata of the resource is public, at the root and at the path of the endpoint', async () => {
  const { http } = await serve();
  await using _ = http;
  for (const path of ['', '/mcp']) {
    const url = new URL(`/.well-known/oauth-protected-resource${path}`, http.url);
    expect(await (await fetch(url)).json()).toEqual({
      resource: AUDIENCE,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['use', 'write'],
    });
  }
  const unknown = new URL('/.well-known/oauth-protected-resource/other', http.url);
  expect((await fetch(unknown)).status).toBe(404);
});

test('the default audience is the URL of the endpoint; the host calls the server with a token', async () => {
  await using http = await toolServer('notes')
    .tool('who', 'The caller', {}, (_args, ctx) => String(ctx.auth?.subject))
    .listen({ auth: { issuer } });
  const headers = { authorization: `Bearer ${await sign(claims({ aud: http.url }))}` };
  await using host = createHost({ mcpServers: { notes: { type: 'http', url: http.url, headers } } });
  expect((await host.callTool('notes', 'who', {})).content).toEqual([{ type: 'text', text: 'ada' }]);
});

test.each([
  [{}, '"auth.issuer" is required'],
  [{ issuer: 'http://issuer.example.com' }, '"auth.issuer" must be an https URL'],
  [{ issuer: [] }, '"auth.issuer" must be'],
  [{ issuer: 'https://a.example', algorithms: ['HS256'] }, '"auth.algorithms" must be'],
  [{ issuer: 'https://a.example', algorithms: ['none'] }, '"auth.algorithms" must be'],
  [{ issuer: 'https://a.example', jwksUri: 'http://a.example/jwks' }, '"auth.jwksUri" must be'],
  [{ issuer: ['https://a.example', 'https://b.example'], jwksUri: 'https://a.example/jwks' }, 'single'],
  [{ issuer: 'https://a.example', scope: 'x' }, 'did you mean "scopes"'],
])('invalid options are rejected: %j', async (auth, message) => {
  const listening = toolServer('notes').listen({ auth: auth as ResourceServerOptions });
  await expect(listening).rejects.toMatchObject({
    code: 'bad-option',
    message: expect.stringContaining(message),
  });
});
