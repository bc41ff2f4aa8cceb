import { describe, expect, test } from 'vitest';
import { createAuthFetch } from '../../../src/mcp/auth/auth-fetch.ts';
import {
  type Account,
  type AuthEntry,
  AuthError,
  type AuthErrorCode,
  type OnAuthorize,
  type Refusal,
} from '../../../src/mcp/auth/auth-types.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import { signIn } from '../../../src/mcp/auth/sign-in.ts';
import {
  type Answer,
  type Hostility,
  PLANTED,
  type Received,
  redirectOf,
  startHostileServer,
  tokens,
} from '../../support/auth/hostile-server.ts';
import { watchForLeaks } from '../../support/auth/leak-check.ts';

const { see, planted, expectNoLeaks } = watchForLeaks();

const REFUSED: Refusal = {
  status: 401,
  challenge: undefined,
  dpopNonce: undefined,
  sent: {},
  url: new URL('http://x'),
};
type SignInCase = {
  readonly entry?: Partial<AuthEntry>;
  readonly challenge?: (origin: string) => string;
  readonly onAuthorize?: OnAuthorize;
};

/** The error of a sign-in at a hostile server. */
async function failedSignIn(
  server: { readonly url: string; readonly origin: string },
  given: SignInCase = {},
) {
  const { entry, challenge, onAuthorize = (url) => redirectOf(url) } = given;
  const auth = new ServerAuth({ store: memoryCredentialStore(), env: {}, onAuthorize });
  const refusal = { ...REFUSED, challenge: challenge?.(server.origin) };
  const { signal } = new AbortController();
  const outcome = await auth.signIn('docs', { url: server.url, ...entry }, { signal, refusal }).then(
    (account) => ({ account }),
    (failure: unknown) => failure,
  );
  see('error', outcome instanceof Error ? outcome : '');
  return outcome;
}

function expectRefused(failure: unknown, authCode: AuthErrorCode): void {
  expect(failure).toBeInstanceOf(AuthError);
  expect(failure).toMatchObject({ name: 'McpAuthError', authCode });
}

/** Changes the query of the redirect. */
const tampered =
  (change: (query: URLSearchParams, issuer: string) => void): OnAuthorize =>
  async (url) => {
    planted.add(url.searchParams.get('state') ?? '');
    const back = await redirectOf(url);
    change(back.searchParams, url.origin);
    return back;
  };

describe('the redirect of the browser', () => {
  test.each<[string, AuthErrorCode, OnAuthorize]>([
    ['no state', 'state-mismatch', tampered((it) => it.delete('state'))],
    ['an empty state', 'state-mismatch', tampered((it) => it.set('state', ''))],
    ['another state', 'state-mismatch', tampered((it) => it.set('state', 'forged'))],
    [
      'the state with another end',
      'state-mismatch',
      tampered((it) => it.set('state', `${it.get('state')}A`)),
    ],
    ['another issuer', 'issuer-mismatch', tampered((it) => it.set('iss', 'https://evil.example'))],
    ['no issuer, although one was announced', 'issuer-mismatch', tampered((it) => it.delete('iss'))],
    ['the issuer with a slash', 'issuer-mismatch', tampered((it) => it.set('iss', `${it.get('iss')}/`))],
    ['the issuer in upper case', 'issuer-mismatch', tampered((it) => it.set('iss', 'HTTP://127.0.0.1'))],
    ['an empty code', 'invalid-response', tampered((it) => it.set('code', ''))],
    ['no code', 'invalid-response', tampered((it) => it.delete('code'))],
    ['two codes', 'invalid-response', tampered((it) => it.append('code', 'second'))],
    ['two states', 'invalid-response', tampered((it) => it.append('state', 'second'))],
    ['two issuers', 'invalid-response', tampered((it) => it.append('iss', 'https://evil.example'))],
    [
      'two errors',
      'invalid-response',
      tampered((it) => ['a', 'b'].map((error) => it.append('error', error))),
    ],
    ['an error', 'denied', tampered((it) => it.set('error', 'access_denied'))],
    [
      'an error of another issuer',
      'issuer-mismatch',
      tampered((it) => {
        it.set('error', 'access_denied');
        it.set('iss', 'https://evil.example');
      }),
    ],
    [
      'an error with a script and a code',
      'denied',
      tampered((it) => {
        it.set('error', '<script>alert(1)</script>');
        it.set('error_description', `\u001b[31m${PLANTED.code}`);
      }),
    ],
    ['no URL', 'state-mismatch', () => 'http://['],
  ])('with %s ends the sign-in (%s), and no token is requested', async (_, code, onAuthorize) => {
    using server = await startHostileServer();
    const failure = await failedSignIn(server, { onAuthorize });
    expectRefused(failure, code);
    expect(String(failure)).not.toContain('script');
    expect(server.at('/token')).toEqual([]);
  });

  test('of an earlier sign-in is refused', async () => {
    using server = await startHostileServer();
    let first: URL | undefined;
    const onAuthorize: OnAuthorize = async (url) => {
      const back = await redirectOf(url);
      first ??= back;
      return first;
    };
    await failedSignIn(server, { onAuthorize });
    expectRefused(await failedSignIn(server, { onAuthorize }), 'state-mismatch');
    expect(server.at('/token')).toHaveLength(1);
  });

  test('of a sign-in to another server is refused (mix-up)', async () => {
    using honest = await startHostileServer();
    using evil = await startHostileServer();
    let back: URL | undefined;
    await failedSignIn(honest, { onAuthorize: async (url) => (back = await redirectOf(url)) });
    expectRefused(await failedSignIn(evil, { onAuthorize: () => back }), 'state-mismatch');
    expect(evil.at('/token')).toEqual([]);
  });

  test('with an injected code is refused by the token endpoint, and the code is sent once', async () => {
    using server = await startHostileServer({
      tokens: ({ body }) => ({ status: 400, body: { error: 'invalid_grant', error_description: body } }),
    });
    const onAuthorize = tampered((it) => it.set('code', 'injected'));
    expectRefused(await failedSignIn(server, { onAuthorize }), 'invalid-grant');
    expect(server.at('/token')).toHaveLength(1);
  });
});

const elsewhere = (origin: string) => origin.replace('127.0.0.1', 'idp.example');

describe('metadata', () => {
  test.each<[string, AuthErrorCode, Hostility, SignInCase?]>([
    [
      'of the resource at a link-local address',
      'insecure-address',
      {},
      { challenge: () => 'Bearer resource_metadata="http://169.254.169.254/latest/meta-data"' },
    ],
    [
      'of the resource at an https link-local address',
      'insecure-address',
      {},
      { challenge: () => 'Bearer resource_metadata="https://169.254.169.254/latest/meta-data"' },
    ],
    [
      'of the resource over http elsewhere',
      'insecure-address',
      {},
      { challenge: () => 'Bearer resource_metadata="http://evil.example/metadata"' },
    ],
    [
      'of the resource behind a user name',
      'insecure-address',
      {},
      { challenge: (origin) => `Bearer resource_metadata="${origin.replace('//', '//user:pw@')}/metadata"` },
    ],
    [
      'that names an authorization server at a link-local address',
      'insecure-address',
      { resource: () => ({ authorization_servers: ['https://169.254.169.254'] }) },
    ],
    [
      'that names an authorization server at an IPv6 link-local address',
      'insecure-address',
      { resource: () => ({ authorization_servers: ['https://[fe80::1]'] }) },
    ],
    [
      'that names an authorization server over http elsewhere',
      'insecure-address',
      { resource: (origin) => ({ authorization_servers: [elsewhere(origin)] }) },
    ],
    [
      'that names an authorization server behind a user name',
      'issuer-mismatch',
      { resource: (origin) => ({ authorization_servers: [origin.replace('//', '//user:pw@')] }) },
    ],
    [
      'about another origin',
      'resource-mismatch',
      { resource: () => ({ resource: 'https://bank.example/mcp' }) },
    ],
    ['about another path', 'resource-mismatch', { resource: (origin) => ({ resource: `${origin}/admin` }) }],
    ['of another issuer', 'issuer-mismatch', { metadata: () => ({ issuer: 'https://bank.example' }) }],
    [
      'with a sign-in page that is a script',
      'invalid-response',
      { metadata: () => ({ authorization_endpoint: 'javascript:alert(1)' }) },
    ],
    [
      'with a sign-in page that is a file',
      'insecure-address',
      { metadata: () => ({ authorization_endpoint: 'file:///etc/passwd' }) },
    ],
    [
      'with a sign-in page of another program',
      'insecure-address',
      { metadata: () => ({ authorization_endpoint: 'ms-msdt:/id' }) },
    ],
    [
      'with a sign-in page whose URL is too long for a browser',
      'invalid-response',
      { metadata: (origin) => ({ authorization_endpoint: `${origin}/authorize?${'x'.repeat(20_000)}` }) },
    ],
    [
      'with scopes that make the URL of the sign-in page too long',
      'invalid-response',
      { resource: () => ({ scopes_supported: Array.from({ length: 3_000 }, (_, n) => `scope-${n}`) }) },
    ],
    [
      'with a sign-in page over http elsewhere',
      'insecure-address',
      { metadata: (origin) => ({ authorization_endpoint: `${elsewhere(origin)}/authorize` }) },
    ],
    [
      'with a token endpoint over http elsewhere',
      'insecure-address',
      { metadata: (origin) => ({ token_endpoint: `${elsewhere(origin)}/token` }) },
    ],
    [
      'with a token endpoint at a link-local address',
      'insecure-address',
      { metadata: () => ({ token_endpoint: 'https://169.254.169.254/token' }) },
    ],
    [
      'with a registration endpoint over http elsewhere',
      'insecure-address',
      { metadata: (origin) => ({ registration_endpoint: `${elsewhere(origin)}/register` }) },
    ],
    [
      'with a registration endpoint at a link-local address',
      'insecure-address',
      { metadata: () => ({ registration_endpoint: 'https://169.254.169.254/register' }) },
    ],
    [
      'with endpoints behind a user name',
      'insecure-address',
      { metadata: (origin) => ({ token_endpoint: `${origin.replace('//', '//user:pw@')}/token` }) },
    ],
    [
      'without PKCE with SHA-256',
      'unsupported',
      { metadata: () => ({ code_challenge_methods_supported: ['plain'] }) },
    ],
    [
      'without the response type code',
      'unsupported',
      { metadata: () => ({ response_types_supported: ['token'] }) },
    ],
  ])('%s is refused (%s)', async (_, code, hostility, given) => {
    using server = await startHostileServer(hostility);
    const opened: URL[] = [];
    const onAuthorize: OnAuthorize = (url) => {
      opened.push(url);
      return redirectOf(url);
    };
    expectRefused(await failedSignIn(server, { ...given, onAuthorize }), code);
    expect(server.at('/token')).toEqual([]);
    if (!/token/.test(code)) expect(opened.filter(({ protocol }) => protocol !== 'http:')).toEqual([]);
  });

  const isMetadata = ({ path }: Received) => path === '/.well-known/oauth-authorization-server';
  const every = (answer: (request: Received, origin: string) => Answer): Hostility => ({
    any: (received, origin) => (isMetadata(received) ? answer(received, origin) : undefined),
  });
  test.each<[string, AuthErrorCode, Hostility]>([
    ['of 300 MB', 'invalid-response', every(() => ({ body: endless(300 * 1024, 'x'.repeat(1024)) }))],
    [
      'without an end',
      'invalid-response',
      every(() => ({ body: endless(Number.POSITIVE_INFINITY, ' '.repeat(4096)) })),
    ],
    ['nested 100,000 levels deep', 'invalid-response', every(() => ({ body: '[1,'.repeat(50_000) }))],
    ['that is not JSON', 'invalid-response', every(() => ({ body: `<html>${PLANTED.code}</html>` }))],
    ['that is a list', 'invalid-response', every(() => ({ body: [PLANTED.code] }))],
    ['that is null', 'invalid-response', every(() => ({ body: 'null' }))],
    [
      'that fails with a secret',
      'invalid-response',
      every(() => ({ status: 500, body: { error: PLANTED.code } })),
    ],
  ])('%s is refused (%s)', async (_, code, hostility) => {
    using server = await startHostileServer(hostility);
    expectRefused(await failedSignIn(server), code);
    expect(server.at('/register')).toEqual([]);
  });

  test.each<[string, (path: string, other: string) => string]>([
    ['a link-local address', () => 'http://169.254.169.254/latest/meta-data'],
    ['another origin', (_path, other) => other],
    ['itself', (path) => path],
  ])('that redirects to %s counts as missing', async (_, location) => {
    using other = await startHostileServer();
    using server = await startHostileServer(
      every(({ path }) => ({ status: 302, headers: { location: location(path, other.url) } })),
    );
    // Without metadata the endpoints have default paths on the origin of the server.
    expect(await failedSignIn(server)).toMatchObject({ account: { issuer: server.origin } });
    expect(other.requests).toEqual([]);
    expect(server.requests.length).toBeLessThan(20);
  });

  test('that arrives one byte at a time ends at the time limit', async () => {
    using server = await startHostileServer(every(() => ({ body: slow })));
    const fetch = createAuthFetch({ server: new URL(server.url), env: {} });
    const deps = { key: server.url, account: undefined, fetch };
    const options = { signal: new AbortController().signal, timeoutMs: 50, onAuthorize: () => undefined };
    const failure = await signIn('docs', { url: server.url }, deps, options).catch((it: unknown) => it);
    expectRefused(failure, 'timeout');
  });

  test.each([
    ['a private address', 'https://10.0.0.1/metadata'],
    ['a loopback name', 'https://localhost/metadata'],
    ['an IPv4 address in IPv6', 'https://[::ffff:10.0.0.1]/metadata'],
    ['a decimal address', 'https://2130706433/metadata'],
    ['a hexadecimal address', 'https://0x7f000001/metadata'],
    ['an octal address', 'https://0177.0.0.1/metadata'],
    ['the unspecified address', 'https://0.0.0.0/metadata'],
    ['a translated address (NAT64)', 'https://[64:ff9b::7f00:1]/metadata'],
    ['a unique local address', 'https://[fd00::1]/metadata'],
  ])('of a public server at %s is not requested', async (_, url) => {
    const server = { url: 'https://93.184.216.34/mcp', origin: 'https://93.184.216.34' };
    const failure = await failedSignIn(server, { challenge: () => `Bearer resource_metadata="${url}"` });
    expectRefused(failure, 'insecure-address');
  });
});

describe('credentials of the entry', () => {
  const secret = { clientId: 'client', clientSecret: PLANTED.clientSecret };
  test.each<[string, AuthErrorCode, AuthEntry['oauth']]>([
    ['a secret without an issuer', 'issuer-mismatch', secret],
    ['a secret for another issuer', 'issuer-mismatch', { ...secret, issuer: 'https://idp.example' }],
    ['client credentials without an issuer', 'issuer-mismatch', { ...secret, grant: 'client-credentials' }],
    [
      'client credentials for another issuer',
      'issuer-mismatch',
      { ...secret, grant: 'client-credentials', issuer: 'https://idp.example' },
    ],
    [
      'an assertion without an issuer',
      'issuer-mismatch',
      { clientId: 'client', grant: 'jwt-bearer', assertionFile: '/etc/hostname' },
    ],
    ['an ID token without an issuer', 'issuer-mismatch', { clientId: 'client', xaa: true }],
  ])('%s is not sent (%s)', async (_, code, oauth) => {
    using server = await startHostileServer();
    const isMachine = oauth?.grant !== undefined || oauth?.xaa === true;
    const failure = isMachine
      ? await failedGrant(server.url, oauth)
      : await failedSignIn(server, { entry: { ...(oauth && { oauth }) } });
    see('error', failure);
    expectRefused(failure, code);
    expect(server.at('/token')).toEqual([]);
    expect(JSON.stringify(server.requests)).not.toContain(PLANTED.clientSecret);
  });
});

/** The error of a token request without a person. */
async function failedGrant(url: string, oauth: AuthEntry['oauth']): Promise<unknown> {
  const identityProvider = {
    issuer: 'https://idp.example',
    clientId: 'idp',
    idToken: async () => PLANTED.idToken,
  };
  const auth = new ServerAuth({ store: memoryCredentialStore(), env: {}, identityProvider });
  const authorizer = auth.authorizer('docs', { url, ...(oauth && { oauth }) });
  const failure = await authorizer?.onRefused(REFUSED).catch((it: unknown) => it);
  return failure;
}

describe('the registration endpoint', () => {
  test.each<[string, AuthErrorCode, Answer]>([
    [
      'refuses with a page',
      'registration-refused',
      { status: 403, body: `<html>${PLANTED.clientSecret}</html>` },
    ],
    [
      'refuses and repeats a secret',
      'registration-refused',
      { status: 400, body: { error: 'invalid_client_metadata', error_description: PLANTED.clientSecret } },
    ],
    [
      'sends no client id',
      'invalid-response',
      { status: 201, body: { client_secret: PLANTED.clientSecret } },
    ],
    [
      'sends a number as client id',
      'invalid-response',
      { status: 201, body: { client_id: 1, redirect_uris: [] } },
    ],
    [
      'redirects to another origin',
      'registration-refused',
      { status: 307, headers: { location: 'https://evil.example/register' } },
    ],
  ])('%s: the sign-in ends (%s)', async (_, code, answer) => {
    using server = await startHostileServer({ registration: () => answer });
    expectRefused(await failedSignIn(server), code);
    expect(server.at('/authorize')).toEqual([]);
  });
});

describe('the token endpoint', () => {
  const echo = ({ body, headers }: Received) => `${body} ${headers.authorization} ${PLANTED.refreshToken}`;
  test.each<[string, AuthErrorCode, (request: Received) => Answer]>([
    [
      'repeats the request in its error',
      'invalid-grant',
      (it) => ({ status: 400, body: { error: 'invalid_grant', error_description: echo(it) } }),
    ],
    [
      'repeats the request as its error',
      'invalid-response',
      (it) => ({ status: 400, body: { error: echo(it), error_uri: `https://evil.example/${echo(it)}` } }),
    ],
    ['fails with a page', 'unreachable', (it) => ({ status: 500, body: `<html>${echo(it)}</html>` })],
    [
      'refuses the client',
      'invalid-client',
      (it) => ({ status: 401, body: { error: 'invalid_client', error_description: echo(it) } }),
    ],
    ['sends a page', 'invalid-response', (it) => ({ body: `<html>${echo(it)}</html>` })],
    ['sends an error with status 200', 'invalid-grant', () => ({ body: { error: 'invalid_grant' } })],
    ['sends no token', 'invalid-response', () => ({ body: { token_type: 'Bearer' } })],
    ['sends an empty token', 'invalid-response', () => ({ body: tokens({ access_token: '' }) })],
    [
      'sends a token with a line break',
      'invalid-response',
      () => ({ body: tokens({ access_token: `${PLANTED.accessToken}\r\nx-evil: 1` }) }),
    ],
    [
      'sends a token that is no ASCII',
      'invalid-response',
      () => ({ body: tokens({ access_token: 'tökén' }) }),
    ],
    ['sends a token of another type', 'invalid-response', () => ({ body: tokens({ token_type: 'mac' }) })],
    ['sends a token without a type', 'invalid-response', () => ({ body: tokens({ token_type: undefined }) })],
    ['sends too much', 'invalid-response', () => ({ body: tokens({ padding: 'x'.repeat(300 * 1024) }) })],
    [
      'redirects to another origin',
      'unreachable',
      () => ({ status: 307, headers: { location: 'https://evil.example/token' } }),
    ],
  ])('%s: the sign-in ends (%s)', async (_, code, answer) => {
    const bodies: string[] = [];
    using server = await startHostileServer({
      tokens: (it) => {
        planted.add(new URLSearchParams(it.body).get('code_verifier') ?? '');
        bodies.push(it.body);
        return answer(it);
      },
    });
    expectRefused(await failedSignIn(server), code);
    expect(bodies).toHaveLength(1);
  });
});

test.each([
  ['control characters', 'mcp:read\u001b[2J\nadmin'],
  ['quotes', '"admin"'],
  ['100,000 characters', 'x '.repeat(50_000)],
])('scopes of a token response with %s are not used', async (_, scope) => {
  using server = await startHostileServer({ tokens: () => ({ body: tokens({ scope }) }) });
  const entry = { oauth: { scopes: 'mcp:read' } };
  expect(await failedSignIn(server, { entry })).toMatchObject({ account: { tokens: { scope: 'mcp:read' } } });
});

test('an empty refresh token is none', async () => {
  using server = await startHostileServer({ tokens: () => ({ body: tokens({ refresh_token: '' }) }) });
  const { account } = (await failedSignIn(server)) as { account: Account };
  expect(account.tokens).not.toHaveProperty('refreshToken');
});

test('nothing secret was printed or thrown', () => {
  expectNoLeaks();
});

/** A body that consists of `count` pieces. */
function endless(count: number, piece: string): () => string | undefined {
  let sent = 0;
  return () => (sent++ < count ? piece : undefined);
}

/** A body that never continues after its first piece. */
const slow = (() => {
  let isFirst = true;
  return () => {
    if (!isFirst) return new Promise<undefined>(() => {});
    isFirst = false;
    return ' ';
  };
})();
