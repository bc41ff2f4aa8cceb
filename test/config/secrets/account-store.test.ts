import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sealedCredentialStore } from '../../../src/config/secrets/account-store.ts';
import { openSecretStore } from '../../../src/config/secrets/secret-store.ts';
import { Host } from '../../../src/host/host.ts';
import type { HostOptions } from '../../../src/host/host-options.ts';
import type { Account, IdpAccount } from '../../../src/mcp/auth/auth-types.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { makeCertificates } from '../../mcp/support/certificates.ts';
import { sendJson } from '../../mcp/transports/http/support/web.ts';
import { startAuthorizationServer } from '../../support/auth/authorization-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';
import { type SecretHome, secretHome } from './secret-home.ts';

const SERVER = 'https://mcp.example/';

const account = (server: string, issuer: string, accessToken: string): Account => ({
  server,
  issuer,
  authorizationServer: { url: issuer, issuer },
  client: { client_id: 'c', client_secret: `${accessToken}-client`, origin: 'registered' },
  tokens: { accessToken, tokenType: 'Bearer', refreshToken: `${accessToken}-refresh`, obtainedAt: 1 },
});

const idp: IdpAccount = {
  issuer: 'https://idp.example',
  clientId: 'c',
  authorizationServer: { url: 'https://idp.example', issuer: 'https://idp.example' },
  tokens: { accessToken: 'a', tokenType: 'Bearer', idToken: 'planted-id', obtainedAt: 1 },
};

test('stores one account for each server, and sign-ins at identity providers, beside the secrets', async () => {
  const home = secretHome();
  const store = sealedCredentialStore(home);
  expect([await store.read(SERVER), await store.list(), existsSync(home.home)]).toEqual([
    undefined,
    [],
    false,
  ]);
  const [one, two, three] = [
    account(SERVER, 'https://one.example', 'planted-1'),
    account(SERVER, 'https://two.example', 'planted-2'),
    account(`${SERVER}other`, 'https://one.example', 'planted-3'),
  ];
  await store.write(one);
  await store.write(three);
  await store.write(two);
  await store.writeIdp(idp);
  openSecretStore(home).set('name', 'planted-secret');
  const later = sealedCredentialStore(home);
  expect(await later.read(SERVER)).toEqual(two);
  expect(await later.list()).toEqual([three, two]);
  expect(await later.readIdp(idp.issuer)).toEqual(idp);
  expect([await later.remove(SERVER), await later.remove(SERVER)]).toEqual([true, false]);
  expect([await later.removeIdp(idp.issuer), await later.removeIdp(idp.issuer)]).toEqual([true, false]);
  expect([await store.list(), await store.readIdp(idp.issuer)]).toEqual([[three], undefined]);
  expect(openSecretStore(home).get('name')).toBe('planted-secret');
  expect(filesWith(home, 'planted')).toEqual([]);
});

/** The files below the home that contain the text, also encoded. */
function filesWith({ home }: SecretHome, planted: string): string[] {
  const paths = readdirSync(home, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => {
    if (!statSync(join(home, path)).isFile()) return false;
    const text = readFileSync(join(home, path), 'utf8');
    return (['utf8', 'hex', 'base64url'] as const).some((encoding) =>
      text.includes(Buffer.from(planted).toString(encoding)),
    );
  });
}

const MODULE = new URL('../../../src/config/secrets/account-store.ts', import.meta.url).href;

test('work is exclusive among processes, and a change of another process is reported', async () => {
  const home = secretHome();
  const store = sealedCredentialStore(home);
  const other = account(SERVER, 'https://one.example', 'new');
  const { home: path, env, platform } = home;
  const script = `const { sealedCredentialStore } = await import(${JSON.stringify(MODULE)});
    const store = sealedCredentialStore(${JSON.stringify({ home: path, env, platform })});
    await store.exclusive('key', async () => {
      process.stdout.write('holding');
      await new Promise((resolve) => process.stdin.once('data', resolve));
      await store.write(${JSON.stringify(other)});
      // Until its input ends.
      await new Promise((resolve) => process.stdin.once('end', resolve));
    }, async () => false);
    process.exit();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const { promise: changed, resolve: onChange } = Promise.withResolvers<void>();
  using _watch = store.watch(onChange);
  const polled: unknown[] = [];
  const isDone = async () => {
    const found = await store.read(SERVER);
    polled.push(found);
    if (polled.length === 2) child.stdin.write('go');
    return found !== undefined;
  };
  expect(await store.exclusive('key', async () => 'own work', isDone)).toBeUndefined();
  expect(
    await store.exclusive(
      'other key',
      async () => 'own work',
      async () => false,
    ),
  ).toBe('own work');
  expect(polled.at(-1)).toEqual(other);
  await changed;
  child.stdin.end();
  await once(child, 'exit');
  expect(
    await store.exclusive(
      'key',
      async () => 'own work',
      async () => false,
    ),
  ).toBe('own work');
  expect(readdirSync(join(path, 'locks'))).toEqual([]);
});

test.each<[string, NodeJS.ProcessEnv, string[]]>([
  ['NODE_USE_SYSTEM_CA', { NODE_USE_SYSTEM_CA: '1' }, []],
  ['--use-system-ca in NODE_OPTIONS', { NODE_OPTIONS: '--no-warnings --use-system-ca' }, []],
  ['the flag --use-system-ca', {}, ['--use-system-ca']],
  ['the flag --use-openssl-ca', {}, ['--use-openssl-ca']],
])(
  'the process of a renewal trusts the certificate authorities of %s',
  async (_, env, flags) => {
    await using certificates = await makeCertificates();
    const tokens = { access_token: 'new', token_type: 'Bearer', refresh_token: 'next' };
    const idp = createServer(certificates.server, (_, response) => sendJson(response, tokens));
    await once(idp.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void idp.close());
    const issuer = `https://127.0.0.1:${(idp.address() as AddressInfo).port}`;
    const home = secretHome({ ...env, SSL_CERT_FILE: certificates.caPath });
    const { execArgv } = process;
    onTestFinished(() => {
      process.execArgv = execArgv;
    });
    process.execArgv = [...execArgv, ...flags];
    const { authorizationServer, ...old } = account(`${issuer}/mcp`, issuer, 'old');
    const endpoints = { token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/authorize` };
    const metadata = { issuer, ...endpoints, response_types_supported: ['code'] };
    const store = sealedCredentialStore(home);
    await store.write({ ...old, authorizationServer: { ...authorizationServer, metadata } });
    const renewal = { server: 'notes', entry: { url: old.server }, refused: 'old' };
    expect(await store.renewDetached?.(renewal)).toBe(true);
    expect((await store.read(old.server))?.tokens?.accessToken).toBe('new');
  },
  60_000,
);

/** A host of the user whose home is given. */
function hostOf(home: SecretHome, options: HostOptions): Host {
  const env = { ...process.env, ...home.env };
  return new Host(
    { cacheDirectory: false, ...options },
    { env, cwd: process.cwd(), version: '0', home: home.home },
  );
}

test('an account of one host is used by the next one, and by none that keeps accounts in memory', async () => {
  await using idp = await startAuthorizationServer();
  await using server = await startProtectedServer(idp.issuer);
  const home = secretHome();
  const notes = { type: 'http', url: server.url } as const;
  const stateOf = async (options: HostOptions) => {
    await using host = hostOf(home, { mcpServers: { notes }, ...options });
    await host.ready({ servers: ['notes'] }).catch(() => {});
    return host.status().notes?.state;
  };
  expect(await stateOf({})).toBe('needs-auth');
  expect(existsSync(home.home)).toBe(false);
  expect(await stateOf({ auth: { onAuthorize: (url) => signInWithoutBrowser(url) } })).toBe('connected');
  expect(await stateOf({ auth: {} })).toBe('connected');
  expect(Object.fromEntries(idp.grants)).toEqual({ authorization_code: 1 });
  expect(await stateOf({ auth: { store: 'memory' } })).toBe('needs-auth');
  expect(await stateOf({})).toBe('needs-auth');
});

test('an unusable store affects only servers that require a sign-in', async () => {
  await using idp = await startAuthorizationServer();
  await using server = await startProtectedServer(idp.issuer);
  await using open = await toolServer('open').listen();
  const home = secretHome();
  home.write(home.sealed, '{"version":3}');
  await using host = hostOf(home, {
    mcpServers: { notes: { type: 'http', url: server.url }, open: { type: 'http', url: open.url } },
    auth: {},
  });
  await host.ready().catch(() => {});
  expect(host.status()).toMatchObject({
    open: { state: 'connected' },
    notes: {
      state: 'needs-auth',
      cause: { message: expect.stringContaining(`the secrets in ${home.sealed}: version 3`) },
    },
  });
});
