import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sealedCredentialStore } from '../../../src/config/secrets/account-store.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';
import { startAuthorizationServer } from '../../support/auth/authorization-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';

const PROCESSES = 8;
/** With `npm run long` the processes call for two minutes; otherwise until some tokens have expired. */
const IS_LONG = process.env.TOOLPLANE_LONG_TESTS === '1';
const CALLS_AT_ONCE = IS_LONG ? 50 : 10;
const MIN_EXPIRIES = 3;

test('8 processes that call all the time share one account whose tokens live 2 seconds (R179)', async () => {
  await using idp = await startAuthorizationServer({ accessTokenS: 2 });
  await using server = await startProtectedServer(idp.issuer);
  const home = join(await temporaryRoot(), 'home');
  const env = { PATH: process.env.PATH, HOME: home, TOOLPLANE_HOME: home, TOOLPLANE_SECRETS: 'file' };
  const store = sealedCredentialStore({ home, env, platform: process.platform });
  const auth = new ServerAuth({ store, env, onAuthorize: (url) => signInWithoutBrowser(url) });
  await auth.signIn('notes', { url: server.url }, { signal: new AbortController().signal });
  const program = new URL('fixtures/calling-process.ts', import.meta.url).pathname;
  const children = Array.from({ length: PROCESSES }, () =>
    spawn(process.execPath, [program, server.url, String(CALLS_AT_ONCE)], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  onTestFinished(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  const outputs = children.map((child) => text(child.stdout));
  await Promise.all(children.map((child) => once(child.stdout, 'readable')));
  const first = idp.issuedAt.length;
  await delay(IS_LONG ? 120_000 : 0);
  while (idp.issuedAt.length < first + MIN_EXPIRIES) await delay(100);
  for (const child of children) child.stdin.end();
  const results = (await Promise.all(outputs)).map((it) => JSON.parse(it) as Result);
  expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  for (const { calls } of results) expect(calls).toBeGreaterThanOrEqual(CALLS_AT_ONCE);
  // A token is valid for at least one second, so that two tokens of the same second mean two refreshes for one expiry.
  expect(new Set(idp.issuedAt).size).toBe(idp.issuedAt.length);
  expect(idp.grants.get('refresh_token')).toBe(idp.issuedAt.length - 1);
  expect(idp.errors).toEqual([]);
  expect(idp.revokedGrants).toBe(0);
  if (IS_LONG)
    console.log(
      `${results.reduce((sum, { calls }) => sum + calls, 0)} calls, ${idp.issuedAt.length - 1} refreshes`,
    );
}, 300_000);

type Result = { readonly calls: number; readonly failures: readonly string[] };
