import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sealedCredentialStore } from '../../../src/config/secrets/account-store.ts';
import { ServerAuth } from '../../../src/mcp/auth/authorizer.ts';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';
import { startAuthorizationServer } from '../../support/auth/authorization-server.ts';
import { signInWithoutBrowser, startProtectedServer } from '../../support/auth/protected-server.ts';

/** Number of kills per token lifetime; 200 in total with `npm run long`. */
const MOMENTS = process.env.TOOLPLANE_LONG_TESTS === '1' ? 100 : 4;
/** The kills are spread over this time after the start of the process; a renewal takes a part of it. */
const SPREAD_MS = 1000;

test.each([3600, 20])(
  'an account whose tokens live %i seconds stays usable when processes are killed while they sign in or renew them',
  async (accessTokenS) => {
    await using idp = await startAuthorizationServer({ accessTokenS });
    await using server = await startProtectedServer(idp.issuer);
    const { url } = server;
    const home = join(await temporaryRoot(), 'home');
    const env = { PATH: process.env.PATH, HOME: home, TOOLPLANE_HOME: home, TOOLPLANE_SECRETS: 'file' };
    const store = sealedCredentialStore({ home, env, platform: process.platform });
    // The process of the test is not killed, so that it needs no other process for its renewals.
    const { renewDetached: _, ...own } = store;
    const auth = new ServerAuth({
      store: own,
      env,
      onAuthorize: (address) => signInWithoutBrowser(address),
    });
    await auth.signIn('notes', { url }, { signal: new AbortController().signal });
    const program = new URL('fixtures/renewing-process.ts', import.meta.url).pathname;
    for (let moment = 0; moment < MOMENTS; moment++) {
      // Renewals are tested more often than sign-ins, because a kill can lose the account.
      const work = moment % 4 === 3 ? 'sign-in' : 'renew';
      const child = spawn(process.execPath, [program, work, url, home], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      await delay(((moment * 0.618) % 1) * SPREAD_MS);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const account = await store.read(url);
      expect(account?.tokens?.refreshToken).toBeTypeOf('string');
      // Waits for a renewal that is still running, and then renews the tokens again.
      await auth.renew({ server: 'notes', entry: { url }, refused: account?.tokens?.accessToken ?? '' });
      const usable = await store.read(url);
      expect(usable).not.toHaveProperty('lost');
      await auth.renew({ server: 'notes', entry: { url }, refused: usable?.tokens?.accessToken ?? '' });
      expect((await store.read(url))?.tokens?.accessToken).not.toBe(usable?.tokens?.accessToken);
    }
    expect(idp.errors).toEqual([]);
    expect(idp.revokedGrants).toBe(0);
    if (MOMENTS > 4) console.log(`${MOMENTS} kills, ${idp.grants.get('refresh_token')} refreshes`);
  },
  1_800_000,
);
