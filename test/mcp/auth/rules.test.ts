import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import {
  AuthRequestError,
  createAuthFetch,
  mayName,
  urlFault,
  zoneOf,
  zoneOfServer,
} from '../../../src/mcp/auth/auth-fetch.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { clientAuthentication } from '../../../src/mcp/auth/client-authentication.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import { chooseScope, parseChallenge, wantsDpop } from '../../../src/mcp/auth/discovery.ts';
import { beginSignIn } from '../../../src/mcp/auth/sign-in.ts';
import { toAuthError, toStoredTokens } from '../../../src/mcp/auth/token-grants.ts';
import { VERIFIED } from '../../../src/mcp/transports/http/tls-options.ts';
import { startHostileServer } from '../../support/auth/hostile-server.ts';
import { makeCertificates } from '../support/certificates.ts';
import { startWeb } from '../transports/http/support/web.ts';

test.each([
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['fe80::1', 'link-local'],
  ['10.1.2.3', 'private'],
  ['172.31.0.1', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['::ffff:10.0.0.1', 'private'],
  ['fd00::1', 'private'],
  ['0.0.0.0', 'private'],
  ['64:ff9b::a9fe:a9fe', 'private'],
  ['64:ff9b::7f00:1', 'private'],
  ['64:ff9b::10.1.2.3', 'private'],
  ['64:ff9b::93.184.216.34', 'public'],
  ['64:ff9b:1::a00:1', 'private'],
  ['2002:a9fe:a9fe::1', 'private'],
  ['fec0::1', 'private'],
  ['::ffff:0:127.0.0.1', 'private'],
  ['100::1', 'private'],
  ['2001:0:7f00:1::', 'private'],
  ['2001:4860:4860::8888', 'public'],
  ['93.184.216.34', 'public'],
  ['2606:4700::1111', 'public'],
] as const)('the address %s is %s', (address, zone) => {
  expect(zoneOf(address)).toBe(zone);
});

test.each([
  ['https://mcp.evil.example/mcp', ['10.9.9.9', '93.184.216.34'], 'public'],
  ['https://mcp.evil.example/mcp', ['169.254.1.1', '93.184.216.34'], 'public'],
  ['https://mcp.evil.example/mcp', ['169.254.1.1', '10.9.9.9'], 'public'],
  ['https://mcp.evil.example/mcp', ['169.254.1.1'], 'public'],
  ['https://mcp.evil.example/mcp', ['127.0.0.1'], 'public'],
  ['https://mcp.evil.example/mcp', [], 'public'],
  ['http://intranet.example/mcp', ['10.9.9.9', 'fd00::1'], 'private'],
  ['https://mcp.localhost/mcp', ['93.184.216.34'], 'loopback'],
  ['https://169.254.1.1/mcp', [], 'link-local'],
] as const)('the server %s at %j is %s', async (url, addresses, zone) => {
  const resolve = async () => addresses.map((address) => ({ address, family: isIP(address) }));
  expect(await zoneOfServer(new URL(url), VERIFIED, false, resolve)).toBe(zone);
});

test('a name is private only if a server with its certificate responds at the private address', async () => {
  await using own = await makeCertificates();
  await using web = await startWeb(() => false, own.server);
  // 0.0.0.0 is an address of this machine and counts as private.
  const resolve = async () => [{ address: '0.0.0.0', family: 4 }];
  const zoneAt = (host: string) => {
    const url = new URL(web.url.replace('127.0.0.1', host));
    return zoneOfServer(url, { ...VERIFIED, ca: [own.ca] }, false, resolve);
  };
  expect(await zoneAt('mcp.test')).toBe('private');
  expect(await zoneAt('mcp.evil.example')).toBe('public');
});

test.each([
  ['public', 'public', true],
  ['public', 'private', false],
  ['public', 'loopback', false],
  ['private', 'private', true],
  ['private', 'loopback', false],
  ['loopback', 'private', true],
  ['loopback', 'link-local', false],
  ['any', 'link-local', true],
] as const)('a %s server may name a %s address: %s', (server, address, isAllowed) => {
  expect(mayName(server, address)).toBe(isAllowed);
});

test.each([
  'http://idp.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://user:pw@idp.example/',
])('the address %s is refused', (url) => {
  expect(urlFault(new URL(url))).toBeTypeOf('string');
});

test.each([
  'https://169.254.169.254/latest',
  'https://10.0.0.1/',
  'https://2130706433/',
  'https://[::ffff:7f00:1]/',
])('metadata at %s is not requested for a public server', async (url) => {
  const fetch = createAuthFetch({ server: new URL('https://93.184.216.34/mcp'), env: {} });
  const failure = await fetch(url).catch((it: unknown) => it);
  expect(failure).toBeInstanceOf(AuthRequestError);
  expect(failure).toMatchObject({ reason: 'address' });
  expect(toAuthError('srv', failure).authCode).toBe('insecure-address');
});

test.each([
  ['http://127.0.0.1:8080/shutdown?', false],
  ['http://localhost:8080/shutdown?', false],
  ['https://192.168.1.1/reboot?', false],
  ['https://router.localhost/reboot?', false],
  ['https://93.184.216.35/authorize', true],
  ['https://unknown.invalid/authorize', true],
])('the browser may open %s for a public server: %s', async (url, mayOpen) => {
  const fetch = createAuthFetch({ server: new URL('https://93.184.216.34/mcp'), env: {} });
  const failure = await fetch.checkPage(new URL(url)).catch((it: unknown) => it);
  if (mayOpen) expect(failure).toBeUndefined();
  else expect(failure).toMatchObject({ reason: 'address' });
});

test('a sign-in page on this machine is not opened for a public server that the configuration does not vouch for', async () => {
  using server = await startHostileServer();
  const options = { signal: new AbortController().signal };
  const { checkPage } = createAuthFetch({ server: new URL('https://93.184.216.34/mcp'), env: {} });
  const fetch = createAuthFetch({ server: new URL(server.url), env: {} });
  const deps = { fetch: Object.assign(fetch, { checkPage }), account: undefined, key: server.url };
  const failure = await beginSignIn('srv', { url: server.url }, deps, options).catch((it: unknown) => it);
  expect(failure).toMatchObject({ authCode: 'insecure-address' });
  const oauth = { issuer: server.origin };
  const over = new AbortController();
  const pending = await beginSignIn('srv', { url: server.url, oauth }, deps, { signal: over.signal });
  expect(pending.url.origin).toBe(server.origin);
  over.abort();
  await expect(pending.done).rejects.toMatchObject({ authCode: 'cancelled' });
});

test('no tokens are requested for a server that would receive them unencrypted', async () => {
  const auth = new ServerAuth({ store: memoryCredentialStore(), env: {}, onAuthorize: (url) => url });
  const oauth = { authServerMetadataUrl: 'https://93.184.216.34/metadata', clientId: 'client' };
  const entry = { url: 'http://mcp.example/mcp', oauth };
  const { signal } = new AbortController();
  const failure = await auth.signIn('srv', entry, { signal }).catch((it: unknown) => it);
  expect(failure).toMatchObject({
    authCode: 'insecure-address',
    detail: expect.stringContaining('unencrypted'),
  });
});

const prm = { resource: 'https://a.example/mcp', scopes_supported: ['read', 'write'] };
const as = { scopes_supported: ['read', 'offline_access'] } as never;

test.each([
  ['the challenge', { challenge: { scope: 'x' }, authorizationServer: { resourceMetadata: prm } }, 'x'],
  ['the metadata', { challenge: {}, authorizationServer: { resourceMetadata: prm } }, 'read write'],
  ['nothing', { challenge: {}, authorizationServer: {} }, undefined],
  [
    'the entry',
    {
      oauth: { scopes: 'own' },
      challenge: { scope: 'x' },
      authorizationServer: { metadata: as },
    },
    'own',
  ],
  [
    'offline access',
    { challenge: { scope: 'x' }, authorizationServer: { metadata: as } },
    'x offline_access',
  ],
  [
    'the challenge only for cross-app access',
    { oauth: { xaa: true }, challenge: { scope: 'x' }, authorizationServer: { metadata: as } },
    'x',
  ],
  [
    'earlier sign-ins and refused requests too',
    { challenge: { scope: 'y' }, account: { wantedScope: 'x' }, authorizationServer: {} },
    'x y',
  ],
] as const)('scopes come from %s', (_, input, scope) => {
  expect(chooseScope(input as never)).toBe(scope);
});

test.each([
  [0.001, 1000],
  [1, 1000],
  [2, 2000],
  [1e300, 365 * 24 * 3600 * 1000],
  [0, undefined],
  [-1, undefined],
])('a token with the lifetime %s is renewed after %s ms at most', (expires_in, lifetimeMs) => {
  const { obtainedAt, expiresAt } = toStoredTokens(
    'srv',
    { access_token: 'a', token_type: 'Bearer', expires_in },
    undefined,
  );
  expect(expiresAt === undefined ? undefined : expiresAt - obtainedAt).toBe(lifetimeMs);
});

const refusal = (challenge: string) =>
  ({ status: 401, challenge, dpopNonce: undefined, sent: {}, url: new URL('https://a.example/') }) as const;

test('the Bearer challenge is found after other schemes', async () => {
  const text = 'Basic realm="a", Bearer scope="read", resource_metadata="https://a.example/prm"';
  const challenge = await parseChallenge(refusal(text));
  expect(challenge).toMatchObject({ scope: 'read', isDpop: false });
  expect(challenge.resourceMetadataUrl?.href).toBe('https://a.example/prm');
  expect(wantsDpop(challenge, {})).toBe(false);
  expect(wantsDpop(await parseChallenge(refusal('DPoP algs="ES256"')), {})).toBe(true);
});

test.each([
  ['s3cret~', 'app:s3cret~'],
  ['a+b/c=%20 :', 'app:a%2Bb%2Fc%3D%2520%20%3A'],
  ['ключ', 'app:%D0%BA%D0%BB%D1%8E%D1%87'],
])('the secret %s is sent as %s with HTTP Basic', async (client_secret, pair) => {
  const [headers, body] = [new Headers(), new URLSearchParams()];
  const client = { client_id: 'app', client_secret, origin: 'pre-registered' } as const;
  await clientAuthentication(client)(headers, body, 'https://a.example/token');
  expect(headers.get('authorization')).toBe(`Basic ${Buffer.from(pair).toString('base64')}`);
  expect([...body]).toEqual([]);
});

test('no text of a server survives in an error', () => {
  const secret = 'rt-SECRET-123';
  const failures = [
    Object.assign(new Error(`Raw body: ${secret}`), { code: 'invalid_grant', name: 'OAuthError' }),
    Object.assign(new Error(secret), { name: 'RegistrationRejectedError' }),
    new SyntaxError(secret),
    secret,
  ];
  const errors = failures.map((failure) => toAuthError('srv', failure));
  expect(errors.map(({ authCode }) => authCode)).toEqual([
    'invalid-grant',
    'registration-refused',
    'invalid-response',
    'invalid-response',
  ]);
  for (const error of errors) {
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(secret);
    expect(error.cause).toBeUndefined();
  }
});

test.each([
  [{ access_token: 'a\nb', token_type: 'Bearer' }],
  [{ access_token: '', token_type: 'Bearer' }],
  [{ access_token: 'a', token_type: 'mac' }],
])('an unusable token is refused', (tokens) => {
  expect(() => toStoredTokens('srv', tokens, undefined)).toThrow(
    expect.objectContaining({ authCode: 'invalid-response' }),
  );
});

test.each([
  ['Bearer', 'required', false],
  ['Bearer', 'possible', true],
  ['Bearer', 'none', true],
  ['DPoP', 'required', true],
  ['dpop', 'possible', true],
  ['DPoP', 'none', false],
] as const)('a %s token is accepted if a binding is %s: %s', (token_type, binding, isAccepted) => {
  const accept = () => toStoredTokens('srv', { access_token: 'a', token_type }, undefined, binding);
  if (isAccepted) expect(accept()).toMatchObject({ tokenType: token_type });
  else expect(accept).toThrow(expect.objectContaining({ authCode: 'invalid-response' }));
});

test.each([-5, Number.NaN, 0])('a lifetime of %s seconds is not used', (expires_in) => {
  expect(
    toStoredTokens('srv', { access_token: 'a', token_type: 'Bearer', expires_in }, 'x'),
  ).not.toHaveProperty('expiresAt');
});

test('work of one key runs one after the other, and not if it is done', async () => {
  const store = memoryCredentialStore();
  const order: number[] = [];
  const first = store.exclusive(
    'k',
    async () => order.push(1),
    async () => false,
  );
  const second = store.exclusive(
    'k',
    async () => order.push(2),
    async () => order.length > 0,
  );
  expect(await Promise.all([first, second])).toEqual([1, undefined]);
});
