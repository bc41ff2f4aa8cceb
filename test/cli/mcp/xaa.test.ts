import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { sealedCredentialStore } from '../../../src/config/secrets/account-store.ts';
import type { IdpAccount } from '../../../src/mcp/auth/auth-types.ts';
import { IdentityProviderSignIn } from '../../../src/mcp/auth/cross-app-access.ts';
import {
  JWT_BEARER,
  startAuthorizationServer,
  TOKEN_EXCHANGE,
} from '../../support/auth/authorization-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';
import { mcpPlace, userFile } from '../support/mcp-place.ts';
import { startCli } from '../support/run-cli.ts';

const SECRET = 'planted-idp-secret';
const IDP_CLIENT = {
  client_id: 'toolplane',
  client_secret: SECRET,
  token_endpoint_auth_method: 'client_secret_post',
  application_type: 'native',
  redirect_uris: ['http://localhost/callback'],
  grant_types: ['authorization_code', 'refresh_token', TOKEN_EXCHANGE],
  response_types: ['code'],
};
const APP_CLIENT = {
  client_id: 'app',
  redirect_uris: [],
  grant_types: [JWT_BEARER],
  response_types: [],
};

test('setup, login, status and clear: one sign-in, with which the servers of --xaa connect (R180)', async () => {
  await using idp = await startAuthorizationServer({ clients: [IDP_CLIENT] });
  await using own = await startAuthorizationServer({ clients: [APP_CLIENT], trustedIssuer: idp.issuer });
  await using server = await startProtectedServer(own.issuer);
  const place = mcpPlace();
  const env = { TOOLPLANE_SECRETS: 'file', MCP_XAA_IDP_CLIENT_SECRET: SECRET };
  const mcp = (...args: string[]) => place.mcpWith({ env }, ...args);
  const document = async (...args: string[]) => JSON.parse((await mcp(...args, '--json')).stdout);

  expect(await document('xaa', 'status')).toEqual({ state: 'none' });
  expect((await mcp('xaa', 'login')).stderr).toContain('toolplane mcp xaa setup');
  const client = ['--issuer', idp.issuer, '--client-id', 'toolplane', '--client-secret'];
  expect(await document('xaa', 'setup', ...client)).toMatchObject({ xaaIdp: { issuer: idp.issuer } });
  const { version: _, ...written } = place.json(userFile(place)) as Record<string, unknown>;
  expect(written).toEqual({ xaaIdp: { issuer: idp.issuer, clientId: 'toolplane' } });
  const added = ['--xaa', '--client-id', 'app', '--issuer', own.issuer, '-s', 'user'];
  expect((await mcp('add', 'docs', server.url, ...added)).code).toBe(0);
  const before = await document('list');
  expect(JSON.stringify(before)).toContain('toolplane mcp xaa login');

  const child = startCli(['mcp', 'xaa', 'login', '--json', '--no-browser'], {
    cwd: place.project,
    env: { ...place.env, ...env },
  });
  const lines: { type: string; url: string; issuer?: string }[] = [];
  for await (const row of createInterface({ input: child.stdout })) {
    const found = JSON.parse(row);
    lines.push(found);
    if (found.type === 'authorize') await (await fetch(await signInWithoutBrowser(found.url))).text();
  }
  expect(lines.map(({ type }) => type)).toEqual(['authorize', 'done']);

  const list = JSON.stringify(await document('list'));
  expect(list).toContain('"connected"');
  expect(list).toContain('"xaa"');
  expect(await document('xaa', 'status')).toMatchObject({ state: 'authorized', servers: ['docs'] });
  expect(idp.requests.get('/auth')).toBe(1);
  for (const file of ['settings.json', 'secrets.enc'])
    expect(readFileSync(join(place.home, file), 'utf8')).not.toContain(SECRET);

  expect(await document('xaa', 'clear')).toEqual({
    issuer: idp.issuer,
    removed: true,
    revoked: 'yes',
    servers: ['docs'],
  });
  expect(await document('xaa', 'status')).toEqual({ state: 'none' });
});

test('the sign-in at a replaced identity provider is revoked and removed, also one of earlier settings', async () => {
  await using idp = await startAuthorizationServer({ clients: [IDP_CLIENT] });
  const place = mcpPlace();
  const env = { TOOLPLANE_SECRETS: 'file', MCP_XAA_IDP_CLIENT_SECRET: SECRET };
  const mcp = (...args: string[]) => place.mcpWith({ env }, ...args);
  const context = { home: place.home, env: { ...place.env, ...env }, platform: process.platform };
  const store = sealedCredentialStore(context);
  const other = 'http://localhost:1';
  const setup = async (issuer: string) => {
    const client = ['--issuer', issuer, '--client-id', 'toolplane', '--client-secret'];
    return (await mcp('xaa', 'setup', ...client)).stderr;
  };
  const signIn = async () => {
    const client = { issuer: idp.issuer, clientId: 'toolplane', clientSecret: SECRET };
    const onAuthorize = (url: URL) => signInWithoutBrowser(url);
    const { signal } = new AbortController();
    await new IdentityProviderSignIn(client, { store, env: {} }).signIn({ signal, onAuthorize });
    const [account] = await store.listIdps();
    // A sign-in of earlier settings at an identity provider that does not exist any more.
    await store.writeIdp({
      ...(account as IdpAccount),
      issuer: other,
      authorizationServer: { url: other, issuer: other },
    });
  };
  const issuers = async () => (await store.listIdps()).map(({ issuer }) => issuer);

  await setup(idp.issuer);
  await signIn();
  await setup(idp.issuer);
  expect(await issuers()).toEqual([idp.issuer]);
  expect(idp.revokedTokens).toBe(0);
  expect(await setup('https://new.example')).toContain(
    `Signed out of ${idp.issuer}. Its tokens are revoked.`,
  );
  expect([await issuers(), idp.revokedTokens > 0]).toEqual([[], true]);

  await setup(idp.issuer);
  await signIn();
  expect(JSON.parse((await mcp('xaa', 'clear', '--json')).stdout)).toEqual({
    issuer: idp.issuer,
    removed: true,
    revoked: 'yes',
    servers: [],
    others: [{ issuer: other, removed: true, revoked: 'unsupported', servers: [] }],
  });
  expect(await issuers()).toEqual([]);

  await signIn();
  await store.removeIdp(other);
  const { stdout } = await mcp('logout', '--all', '--json');
  expect(JSON.parse(stdout)).toEqual({ type: 'done', issuer: idp.issuer, removed: true, revoked: 'no' });
  expect(await issuers()).toEqual([]);
});

test.each([
  ['setup without --client-id', ['xaa', 'setup', '--issuer', 'https://idp.example'], '--client-id'],
  ['an issuer over http', ['xaa', 'setup', '--issuer', 'http://idp.example', '--client-id', 'x'], 'https'],
  ['--xaa without an issuer', ['add', 'docs', 'https://h/mcp', '--xaa', '--client-id', 'x'], '--issuer'],
  ['--xaa for a command', ['add', 'docs', '--xaa', '--', 'npx'], '--xaa'],
])('%s is a usage error', async (_, args, text) => {
  const { code, stderr } = await mcpPlace().mcp(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(text);
});
