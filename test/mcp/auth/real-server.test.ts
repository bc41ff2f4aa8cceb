import { generateKeyPairSync } from 'node:crypto';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import type { HostOptions } from '../../../src/host/host-options.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import type { OAuthEntry } from '../../../src/protocol/server-entry.ts';
import { mcpPlace, userFile } from '../../cli/support/mcp-place.ts';
import { startCli } from '../../cli/support/run-cli.ts';
import { startAuthorizationServer } from '../../support/auth/authorization-server.ts';
import { BROWSERS, openBrowser, signInWithBrowser, takeScreenshot } from '../../support/auth/browser.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';

/** A host with the server `notes`, whose person signs in without a browser; `asked` has the addresses to sign in at. */
function hostOf(url: string, oauth?: OAuthEntry, auth: HostOptions['auth'] = {}) {
  const asked: URL[] = [];
  const onAuthorize = (address: URL) => {
    asked.push(address);
    return signInWithoutBrowser(address);
  };
  const host = createHost({
    mcpServers: { notes: { type: 'http', url, ...(oauth && { oauth }) } },
    cacheDirectory: false,
    auth: { onAuthorize, store: 'memory', ...auth },
  });
  const call = async (tool: string) => {
    const [first] = (await host.callTool('notes', tool)).content;
    return first?.type === 'text' ? first.text : undefined;
  };
  return { host, asked, call, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

test('a host registers, signs in at oidc-provider and calls a tool (R176)', async () => {
  await using idp = await startAuthorizationServer();
  await using server = await startProtectedServer(idp.issuer);
  await using used = hostOf(server.url, { scopes: 'mcp:read' });
  expect(await used.call('whoami')).toBe('alice');
  expect(used.asked).toHaveLength(1);
  expect(Object.fromEntries(used.asked[0]?.searchParams ?? [])).toMatchObject({
    code_challenge_method: 'S256',
    resource: server.url,
    scope: 'mcp:read',
  });
  expect(idp.requests.get('/reg')).toBe(1);
  expect(Object.fromEntries(idp.grants)).toEqual({ authorization_code: 1 });
});

test('a call that lacks a scope is sent again after a sign-in with the scopes of both', async () => {
  await using idp = await startAuthorizationServer();
  await using server = await startProtectedServer(idp.issuer);
  await using used = hostOf(server.url);
  expect(await used.call('whoami')).toBe('alice');
  expect(used.asked[0]?.searchParams.get('scope')?.split(' ')).not.toContain('mcp:write');
  expect(await used.call('remove')).toBe('removed');
  expect(used.asked).toHaveLength(2);
  expect(used.asked[1]?.searchParams.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['mcp:read', 'mcp:write']),
  );
});

test('an authorization server that registers no clients ends in an error that says what to configure', async () => {
  await using idp = await startAuthorizationServer({ registers: false });
  await using server = await startProtectedServer(idp.issuer);
  await using used = hostOf(server.url);
  const failure = await used.host.ready({ servers: ['notes'] }).catch((it: unknown) => it);
  expect(failure).toMatchObject({ code: 'unauthorized' });
  expect(used.host.status().notes?.cause?.authCode).toBe('registration-required');
  expect(String(failure)).toContain(`${idp.issuer} does not register clients by itself`);
  expect(used.asked).toEqual([]);
});

test('an expired access token is refreshed, and every refresh token is used once', async () => {
  await using idp = await startAuthorizationServer({ accessTokenS: 2 });
  await using server = await startProtectedServer(idp.issuer);
  await using used = hostOf(server.url);
  expect(await used.call('whoami')).toBe('alice');
  while ((idp.grants.get('refresh_token') ?? 0) < 2) expect(await used.call('whoami')).toBe('alice');
  expect(used.asked).toHaveLength(1);
  expect(idp.revokedGrants).toBe(0);
  expect(idp.errors).toEqual([]);
});

const SERVICE = {
  client_id: 'service',
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
};
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

test.each([
  [
    'a client secret',
    { client_secret: 's3cret', token_endpoint_auth_method: 'client_secret_basic' },
    { clientSecret: 's3cret' },
  ],
  [
    'a private key',
    {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [publicKey.export({ format: 'jwk' })] },
    },
    { privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() },
  ],
] as const)(
  'client credentials with %s need no person, and obtain more scopes themselves',
  async (_, registered, own) => {
    await using idp = await startAuthorizationServer({ clients: [{ ...SERVICE, ...registered }] });
    await using server = await startProtectedServer(idp.issuer);
    const oauth = { grant: 'client-credentials', clientId: 'service', issuer: idp.issuer, ...own } as const;
    await using used = hostOf(server.url, oauth, { onAuthorize: undefined as never });
    expect(await used.call('whoami')).toBe('service');
    expect(await used.call('remove')).toBe('removed');
    expect(Object.fromEntries(idp.grants)).toEqual({ client_credentials: 2 });
  },
);

test.each(['a+b/c==', 'a%20b c:d~!'])(
  'the client secret %s authenticates a code, a refresh, a revocation and client credentials',
  async (client_secret) => {
    const signedIn = {
      client_id: 'app:1',
      client_secret,
      application_type: 'native',
      redirect_uris: ['http://localhost/callback'],
      token_endpoint_auth_method: 'client_secret_basic',
    };
    const service = { ...SERVICE, client_secret, token_endpoint_auth_method: 'client_secret_basic' };
    await using idp = await startAuthorizationServer({ clients: [signedIn, service] });
    await using server = await startProtectedServer(idp.issuer);
    const { url } = server;
    const auth = new ServerAuth({
      store: memoryCredentialStore(),
      env: {},
      onAuthorize: (page) => signInWithoutBrowser(page),
    });
    const own = { clientSecret: client_secret, issuer: idp.issuer, scopes: 'mcp:read' };
    const person = { url, oauth: { ...own, clientId: 'app:1' } };
    const { tokens } = await auth.signIn('notes', person, { signal: new AbortController().signal });
    await auth.renew({ server: 'notes', entry: person, refused: tokens?.accessToken ?? '' });
    expect(await auth.signOut('notes', person)).toEqual({ removed: true, revoked: 'yes' });
    const machine = { url, oauth: { ...own, clientId: 'service', grant: 'client-credentials' } } as const;
    await auth.authorizer('notes', machine)?.obtain(undefined);
    expect(await auth.status('notes', machine)).toMatchObject({ state: 'authorized' });
    expect(Object.fromEntries(idp.grants)).toEqual({
      authorization_code: 1,
      refresh_token: 1,
      client_credentials: 1,
    });
    expect(idp.errors).toEqual([]);
  },
);

// A browser that is not installed is reported by `npm test`.
test.each(BROWSERS)(
  'a person signs in and consents in %s, for a host and for toolplane mcp login (R176, R177)',
  async () => {
    await using idp = await startAuthorizationServer();
    await using server = await startProtectedServer(idp.issuer);
    await using browser = await openBrowser();
    const shown: Promise<string>[] = [];
    // The redirect arrives at the port of the host or command, as it does when a person opens the URL.
    const person = async (url: URL) => {
      const page = await browser.newPage();
      const done = signInWithBrowser(page, url, (name) => takeScreenshot(page, name));
      done.catch(() => {});
      shown.push(done);
    };
    const notes = { type: 'http' as const, url: server.url };
    await using host = createHost({
      mcpServers: { notes },
      cacheDirectory: false,
      auth: {
        store: 'memory',
        onAuthorize: (url) => {
          void person(url);
          return undefined;
        },
      },
    });
    const { content } = await host.callTool('notes', 'whoami');
    expect(content).toEqual([{ type: 'text', text: 'alice' }]);

    const place = mcpPlace();
    place.write(userFile(place), { version: 1, mcpServers: { notes } });
    const env = { ...place.env, TOOLPLANE_SECRETS: 'file' };
    const command = startCli(['mcp', 'login', 'notes', '--json', '--no-browser'], {
      cwd: place.project,
      env,
    });
    const types: string[] = [];
    for await (const line of createInterface({ input: command.stdout })) {
      const { type, url } = JSON.parse(line);
      types.push(type);
      if (type === 'authorize') await person(new URL(url));
    }
    expect(types).toEqual(['authorize', 'done']);
    const list = await place.mcpWith({ env: { TOOLPLANE_SECRETS: 'file' } }, 'list', '--json');
    expect(list.stdout).toContain('"connected"');
    for (const text of await Promise.all(shown)) expect(text).toContain('You can close this window');
    expect(idp.grants.get('authorization_code')).toBe(2);
  },
);
