import { expect, test } from 'vitest';
import type { AuthEntry } from '../../../src/mcp/auth/auth-types.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { memoryCredentialStore } from '../../../src/mcp/auth/credential-store.ts';
import { obtainByGrant } from '../../../src/mcp/auth/token-grants.ts';
import { startHostileServer } from '../../support/auth/hostile-server.ts';

/** An expired account of a server at its own authorization server, and an entry that names another issuer. */
async function expiredAccount(
  server: Awaited<ReturnType<typeof startHostileServer>>,
  own: AuthEntry['oauth'],
) {
  const { url, origin } = server;
  const oauth = { clientId: 'client', issuer: 'https://idp.example', ...own };
  const idTokens = { read: 0 };
  const identityProvider = {
    issuer: 'https://idp.example',
    clientId: 'idp',
    idToken: async () => `id-token-${++idTokens.read}`,
  };
  const authorizationServer = { url: origin, issuer: origin };
  const store = memoryCredentialStore();
  await store.write({
    server: url,
    issuer: origin,
    authorizationServer,
    client: { client_id: 'client', client_secret: 'secret', origin: 'pre-registered' },
    tokens: { accessToken: 'a', refreshToken: 'r', tokenType: 'Bearer', obtainedAt: 0, expiresAt: 1 },
  });
  const auth = new ServerAuth({ store, env: {}, identityProvider });
  const headers = async () =>
    auth.authorizer('docs', { url, oauth })?.headers({ method: 'POST', url: new URL(url) });
  const grant = { server: 'docs', oauth, authorizationServer, identityProvider };
  return { store, headers, idTokens, grant };
}

test.each<[string, AuthEntry['oauth']]>([
  ['a client secret', { grant: 'client-credentials', clientSecret: 'secret' }],
  ['the JWT of a workload', { grant: 'jwt-bearer', assertionFile: '/etc/hostname' }],
  ['an assertion of the identity provider', { xaa: true, clientSecret: 'secret' }],
])('%s is not sent to the issuer of a stored account if the entry names another one', async (_, own) => {
  using server = await startHostileServer();
  const { headers, idTokens } = await expiredAccount(server, own);
  await expect(headers()).rejects.toMatchObject({ authCode: 'issuer-mismatch' });
  expect(server.at('/token')).toEqual([]);
  expect(idTokens.read).toBe(0);
});

test('a refresh token and its client secret are not sent if the entry names another issuer', async () => {
  using server = await startHostileServer();
  const { headers, store } = await expiredAccount(server, { clientSecret: 'secret' });
  expect(await headers()).toEqual({});
  expect(server.requests).toEqual([]);
  const stored = await store.read(server.url);
  expect(stored).toMatchObject({ lost: 'moved' });
  expect(stored).not.toHaveProperty('tokens');
});

test('a grant for another issuer than that of the entry ends before a credential is read', async () => {
  using server = await startHostileServer();
  const { grant, idTokens } = await expiredAccount(server, { xaa: true });
  const fetch = async () => Response.json({});
  const obtained = obtainByGrant({ ...grant, scope: undefined, fetch, dpop: undefined });
  await expect(obtained).rejects.toMatchObject({ authCode: 'issuer-mismatch' });
  expect(idTokens.read).toBe(0);
});
