import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import type { OnAuthorize } from '../../../src/mcp/auth/auth-types.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import { IdentityProviderSignIn } from '../../../src/mcp/auth/cross-app-access.ts';
import {
  JWT_BEARER,
  startAuthorizationServer,
  TOKEN_EXCHANGE,
} from '../../support/auth/authorization-server.ts';
import { redirectOf, startHostileServer, tokens } from '../../support/auth/hostile-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';

const IDP_CLIENT = {
  client_id: 'toolplane',
  client_secret: 'idp-secret',
  token_endpoint_auth_method: 'client_secret_post',
  application_type: 'native',
  redirect_uris: ['http://localhost/callback'],
  grant_types: ['authorization_code', 'refresh_token', TOKEN_EXCHANGE],
  response_types: ['code'],
};
const APP_CLIENT = {
  client_id: 'toolplane-app',
  client_secret: 'app-secret',
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: [],
  grant_types: [JWT_BEARER],
  response_types: [],
};

/** An identity provider and servers, each with an authorization server of its own that trusts the provider. */
async function organization(options: { readonly idTokenS?: number; readonly servers: number }) {
  await using started = new AsyncDisposableStack();
  const idp = started.use(await startAuthorizationServer({ clients: [IDP_CLIENT], ...options }));
  const servers: Record<string, object> = {};
  const authorizationServers = [];
  for (let n = 1; n <= options.servers; n++) {
    const trusting = { clients: [APP_CLIENT], trustedIssuer: idp.issuer };
    const own = started.use(await startAuthorizationServer(trusting));
    const { url } = started.use(await startProtectedServer(own.issuer));
    authorizationServers.push(own);
    const oauth = {
      xaa: true,
      clientId: APP_CLIENT.client_id,
      clientSecret: APP_CLIENT.client_secret,
      issuer: own.issuer,
    };
    servers[`server-${n}`] = { type: 'http', url, oauth };
  }
  const stack = started.move();
  const settings = { issuer: idp.issuer, clientId: 'toolplane', clientSecret: 'idp-secret' };
  return { idp, servers, authorizationServers, settings, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A key-value store of a program. */
function programStore() {
  const values = new Map<string, string>();
  return {
    values,
    get: async (key: string) => values.get(key),
    set: async (key: string, value: string) => void values.set(key, value),
    delete: async (key: string) => void values.delete(key),
  };
}

test('one sign-in at the identity provider opens three servers, and the next host needs none (R180)', async () => {
  await using used = await organization({ servers: 3 });
  const { idp, servers, authorizationServers, settings } = used;
  const store = programStore();
  const asked: URL[] = [];
  const onAuthorize: OnAuthorize = (url) => {
    asked.push(url);
    return signInWithoutBrowser(url);
  };
  const callers = async () => {
    await using host = createHost({
      mcpServers: servers as never,
      cacheDirectory: false,
      auth: { identityProvider: settings, onAuthorize, store },
    });
    const calls = Object.keys(servers).map((name) => host.callTool(name, 'whoami'));
    return (await Promise.all(calls)).flatMap(({ content }) => content);
  };
  const alice = { type: 'text', text: 'alice' };
  expect(await callers()).toEqual([alice, alice, alice]);
  expect(asked).toHaveLength(1);
  expect(idp.requests.get('/auth')).toBe(1);
  expect(Object.fromEntries(idp.grants)).toMatchObject({ authorization_code: 1, [TOKEN_EXCHANGE]: 3 });
  for (const it of authorizationServers) expect(Object.fromEntries(it.grants)).toEqual({ [JWT_BEARER]: 1 });
  expect(await callers()).toEqual([alice, alice, alice]);
  // Without the tokens of the servers, the stored ID token obtains new ones.
  for (const key of store.values.keys()) if (key.startsWith('account:')) store.values.delete(key);
  expect(await callers()).toEqual([alice, alice, alice]);
  expect(asked).toHaveLength(1);
  expect(idp.requests.get('/auth')).toBe(1);
});

test('an expired ID token is renewed without a person, once for concurrent requests', async () => {
  // The lifetime is shorter than the time before the expiry at which an ID token is renewed.
  await using used = await organization({ servers: 0, idTokenS: 30 });
  const { idp, settings } = used;
  const session = new IdentityProviderSignIn(settings, { store: memoryCredentialStore(), env: {} });
  const { signal } = new AbortController();
  const { tokens: first } = await session.signIn({ signal, onAuthorize: (url) => signInWithoutBrowser(url) });
  await Promise.all([session.idToken(), session.idToken()]);
  expect(idp.grants.get('refresh_token')).toBeGreaterThan(0);
  expect(await session.idToken()).not.toBe(first.idToken);
  expect(idp.requests.get('/auth')).toBe(1);
  expect(idp.revokedGrants).toBe(0);
});

test('without a sign-in at the identity provider, the error names the command', async () => {
  await using used = await organization({ servers: 1 });
  await using host = createHost({
    mcpServers: used.servers as never,
    cacheDirectory: false,
    auth: { identityProvider: used.settings },
  });
  await expect(host.ready({ servers: ['server-1'] })).rejects.toMatchObject({ code: 'unauthorized' });
  const { state, cause } = host.status()['server-1'] ?? {};
  expect({ state, authCode: cause?.authCode }).toEqual({ state: 'needs-auth', authCode: 'sign-in-required' });
  expect(cause?.message).toContain('toolplane mcp xaa login');
});

test('a sign-in at the identity provider elsewhere is reported for its servers', async () => {
  await using used = await organization({ servers: 1 });
  const { servers, settings } = used;
  const store = memoryCredentialStore();
  const auth = new ServerAuth({ store, env: {}, identityProvider: settings });
  const entry = servers['server-1'] as { url: string };
  const reported = Promise.withResolvers<string>();
  using _ = auth.onSignedIn(reported.resolve);
  const refusal = {
    status: 401,
    challenge: 'Bearer',
    dpopNonce: undefined,
    sent: {},
    url: new URL(entry.url),
  };
  const refused = auth.authorizer('server-1', entry)?.onRefused(refusal as never);
  await expect(refused).rejects.toMatchObject({ authCode: 'sign-in-required' });
  const elsewhere = new IdentityProviderSignIn(settings, { store, env: {} });
  const { signal } = new AbortController();
  await elsewhere.signIn({ signal, onAuthorize: (url) => signInWithoutBrowser(url) });
  expect(await reported.promise).toBe('server-1');
});

test('clear removes the sign-in and the tokens that were obtained with it, and no others', async () => {
  await using used = await organization({ servers: 2 });
  const { servers, settings } = used;
  const store = memoryCredentialStore();
  const auth = new ServerAuth({
    store,
    env: {},
    identityProvider: settings,
    onAuthorize: (url) => signInWithoutBrowser(url),
  });
  const { signal } = new AbortController();
  for (const [name, entry] of Object.entries(servers)) await auth.signIn(name, entry as never, { signal });
  const [first] = await store.list();
  if (!first) throw new Error('no account');
  const { identityProvider: _, ...own } = { ...first, server: 'https://other.example/mcp' };
  await store.write(own);
  const cleared = await new IdentityProviderSignIn(settings, { store, env: {} }).clear();
  expect(cleared).toMatchObject({ removed: true, revoked: 'yes' });
  expect(cleared.servers).toHaveLength(2);
  expect((await store.list()).map(({ server }) => server)).toEqual(['https://other.example/mcp']);
  expect(await store.readIdp(settings.issuer)).toBeUndefined();
});

test('clear during a renewal of the ID token removes the sign-in for good', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), kid: 'key', alg: 'ES256' };
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  let isSent = false;
  using idp = await startHostileServer({
    metadata: (origin) => ({ jwks_uri: `${origin}/jwks` }),
    any: ({ path }) => (path === '/jwks' ? { body: { keys: [key] } } : undefined),
    tokens: () => {
      asked.resolve();
      const body = async () => {
        if (isSent) return undefined;
        isSent = true;
        return answered.promise;
      };
      return { body };
    },
  });
  const claims = {
    iss: idp.origin,
    aud: 'toolplane',
    sub: 'alice',
    exp: Math.floor(Date.now() / 1000) + 600,
  };
  const idToken = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'key' }).sign(privateKey);
  const store = memoryCredentialStore();
  const metadata = {
    issuer: idp.origin,
    authorization_endpoint: `${idp.origin}/authorize`,
    token_endpoint: `${idp.origin}/token`,
    jwks_uri: `${idp.origin}/jwks`,
    response_types_supported: ['code'],
  };
  await store.writeIdp({
    issuer: idp.origin,
    clientId: 'toolplane',
    authorizationServer: { url: idp.origin, issuer: idp.origin, metadata },
    tokens: {
      accessToken: 'a',
      tokenType: 'Bearer',
      refreshToken: 'r',
      idToken,
      obtainedAt: 0,
      expiresAt: 1,
    },
  });
  const session = new IdentityProviderSignIn(
    { issuer: idp.origin, clientId: 'toolplane' },
    { store, env: {} },
  );
  const renewing = session.idToken().catch(() => {});
  await asked.promise;
  const clearing = session.clear();
  await new Promise(setImmediate);
  answered.resolve(JSON.stringify(tokens({ id_token: idToken })));
  await renewing;
  expect((await clearing).removed).toBe(true);
  expect(await store.readIdp(idp.origin)).toBeUndefined();
});

type Signature = 'right' | 'foreign' | 'none';

/** Signs in at an identity provider whose ID token has other claims or another signature. */
async function signInWithIdToken(changes: object, signature: Signature = 'right') {
  const [right, foreign] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const key = { ...(await exportJWK(right.publicKey)), kid: 'key', alg: 'ES256' };
  let nonce = '';
  let idToken = '';
  using idp = await startHostileServer({
    metadata: (origin) => ({ jwks_uri: `${origin}/jwks` }),
    tokens: () => ({ body: tokens({ id_token: idToken }) }),
    any: ({ path }) => (path === '/jwks' ? { body: { keys: [key] } } : undefined),
  });
  const settings = { issuer: idp.origin, clientId: 'toolplane' };
  const store = memoryCredentialStore();
  const session = new IdentityProviderSignIn(settings, { store, env: {} });
  const onAuthorize: OnAuthorize = async (url) => {
    nonce = url.searchParams.get('nonce') ?? '';
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: idp.origin,
      aud: 'toolplane',
      sub: 'alice',
      nonce,
      iat: now,
      exp: now + 60,
      ...changes,
    };
    const signed = await new SignJWT(claims as never)
      .setProtectedHeader({ alg: 'ES256', kid: 'key' })
      .sign((signature === 'foreign' ? foreign : right).privateKey);
    const [, payload] = signed.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    idToken = signature === 'none' ? `${none}.${payload}.` : signed;
    return redirectOf(url);
  };
  const { signal } = new AbortController();
  const outcome = await session.signIn({ signal, onAuthorize }).catch((it: unknown) => it);
  return { outcome, stored: await store.readIdp(idp.origin) };
}

test.each<[string, object, Signature?]>([
  ['of another issuer', { iss: 'https://evil.example' }],
  ['for another client', { aud: 'other' }],
  ['for several clients, of which this one is not the authorized one', { aud: ['toolplane', 'other'] }],
  ['with another nonce', { nonce: 'forged' }],
  ['without a nonce', { nonce: undefined }],
  ['that has expired', { exp: 1000 }],
  ['without a subject', { sub: undefined }],
  ['with another signature', {}, 'foreign'],
  ['without a signature', {}, 'none'],
])('an ID token %s is refused', async (_, changes, signature) => {
  const { outcome, stored } = await signInWithIdToken(changes, signature);
  expect(outcome).toMatchObject({ authCode: 'invalid-response' });
  expect(stored).toBeUndefined();
});

test.each([1e15, 1e300])('an ID token that expires at %d has a limited lifetime', async (exp) => {
  const { stored } = await signInWithIdToken({ exp });
  const { expiresAt = 0 } = stored?.tokens ?? {};
  expect(expiresAt).toBeLessThanOrEqual(Date.now() + 365 * 24 * 3600 * 1000);
  expect(new Date(expiresAt).toISOString()).toMatch(/^\d{4}-/);
});
