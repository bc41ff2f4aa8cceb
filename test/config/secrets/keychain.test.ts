import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KEYRINGS, type KeyringState, keyringUser } from '../../support/keyring.ts';

const source = (name: string) =>
  JSON.stringify(new URL(`../../../src/config/secrets/${name}`, import.meta.url).href);

/** A user, and a function that runs code with `store`, `accounts` and `attempt` and returns the resulting value. */
function person() {
  const user = keyringUser();
  const run = async (
    state: KeyringState,
    code: string,
    env: Record<string, string> = {},
  ): Promise<unknown> => {
    const script = `
      const { openSecretStore, removeStoredKey } = await import(${source('secret-store.ts')});
      const { sealedCredentialStore } = await import(${source('account-store.ts')});
      const context = { home: ${JSON.stringify(user.home)}, env: process.env, platform: process.platform };
      const [store, accounts] = [openSecretStore(context), sealedCredentialStore(context)];
      const attempt = async (work) => { try { return await work(); } catch (cause) { return cause.message; } };
      const result = await (async () => { ${code} })();
      process.stdout.write(JSON.stringify(result ?? null));
      process.exit();`;
    return JSON.parse(await user.run(state, script, env));
  };
  const header = () => JSON.parse(readFileSync(join(user.home, 'secrets.enc'), 'utf8')).key;
  return { home: user.home, run, header };
}

const ACCOUNT = JSON.stringify({
  server: 'https://mcp.example/',
  issuer: 'https://idp.example',
  tokens: { accessToken: 'planted' },
});

test('the package for the keychain is loaded only for a key in the keychain', async () => {
  const { run } = person();
  const loaded = `return Object.keys((await import('node:module')).createRequire(import.meta.url).cache);`;
  const file = { TOOLPLANE_SECRETS: 'file' };
  expect(await run('no bus', `store.set('a', 'x'); await accounts.list(); ${loaded}`, file)).toEqual([]);
  const required = { TOOLPLANE_SECRETS: 'keychain' };
  const after = await run('no bus', `await attempt(() => store.set('b', 'x')); ${loaded}`, required);
  expect(after).toContainEqual(expect.stringContaining('@napi-rs/keyring'));
});

describe.each(KEYRINGS)('with %s', () => {
  test('the key is in the keychain, other processes read it, and uninstalling removes it', async () => {
    const { home, run, header } = person();
    expect(
      await run(
        'unlocked',
        `store.set('a', 'planted'); await accounts.write(${ACCOUNT}); return [store.get('a'), accounts.kind];`,
      ),
    ).toEqual(['planted', 'keychain']);
    expect(header()).toEqual({ kind: 'keychain', account: expect.stringMatching(/^secrets:[0-9a-f]{16}$/) });
    expect(readdirSync(home)).toEqual(['secrets.enc']);
    expect(readFileSync(join(home, 'secrets.enc'), 'utf8')).not.toContain('planted');
    const later = `return [await accounts.read('https://mcp.example/'), store.get('a')];`;
    expect(await run('unlocked', later)).toEqual([JSON.parse(ACCOUNT), 'planted']);
    const locked = expect.stringContaining(
      'the keychain with the key of the file is locked or not available',
    );
    const attempts = `return [await attempt(() => accounts.read('x')), await attempt(() => store.get('a')), await attempt(() => store.set('b', 'x'))];`;
    const before = readFileSync(join(home, 'secrets.enc'), 'utf8');
    expect(await run('locked', attempts)).toEqual([locked, locked, locked]);
    expect(await run('no bus', attempts)).toEqual([locked, locked, locked]);
    const excluded = expect.stringContaining(
      'the key of the file is in the keychain, which TOOLPLANE_SECRETS=file excludes',
    );
    expect(await run('no bus', attempts, { TOOLPLANE_SECRETS: 'file' })).toEqual([
      excluded,
      excluded,
      excluded,
    ]);
    expect(readFileSync(join(home, 'secrets.enc'), 'utf8')).toBe(before);
    expect(readdirSync(home)).toEqual(['secrets.enc']);
    const removed = `removeStoredKey(context); return attempt(() => store.get('a'));`;
    expect(await run('unlocked', removed)).toMatch('the keychain does not contain the key of the file');
  });

  test.each<KeyringState>(['no collection', 'no bus'])(
    '%s: the key is in a file, unless the keychain is required',
    async (state) => {
      const { home, run, header } = person();
      const required = { TOOLPLANE_SECRETS: 'keychain' };
      const set = `return attempt(() => store.set('a', 'x'));`;
      expect(await run(state, set, required)).toMatch(
        /TOOLPLANE_SECRETS requires the keychain, which cannot be used \(.+\); unlock it/,
      );
      expect(existsSync(join(home, 'secrets.enc'))).toBe(false);
      expect(await run(state, `store.set('a', 'x'); return [store.get('a'), accounts.kind];`)).toEqual([
        'x',
        'file',
      ]);
      expect(header()).toMatchObject({ kind: 'machine' });
    },
  );

  test('a locked keychain does not get a new key', async () => {
    const { run, header } = person();
    await run('unlocked', '');
    expect(await run('locked', `store.set('a', 'x'); return store.get('a');`)).toBe('x');
    expect(header()).toMatchObject({ kind: 'machine' });
  });

  test('a file moves to the keychain with the next change if the keychain is required', async () => {
    const { run, header } = person();
    await run('unlocked', `store.set('a', 'x');`, { TOOLPLANE_SECRETS: 'file' });
    expect(await run('unlocked', `store.set('b', 'y'); return accounts.kind;`)).toBe('file');
    const required = { TOOLPLANE_SECRETS: 'keychain' };
    expect(await run('unlocked', `store.set('c', 'z'); return store.names();`, required)).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(header().kind).toBe('keychain');
    expect(await run('unlocked', `return store.names();`)).toEqual(['a', 'b', 'c']);
  });

  test('a key that another process replaced is read again', async () => {
    const { home, run } = person();
    const replace = `
      const { Entry } = (await import('node:module')).createRequire(${source('secret-store.ts')})('@napi-rs/keyring');
      const { rmSync } = await import('node:fs');
      new Entry('toolplane', process.argv[1], { linux: { store: 'secret-service' } }).deleteCredential();
      rmSync(${JSON.stringify(join(home, 'secrets.enc'))});
      const { openSecretStore } = await import(${source('secret-store.ts')});
      openSecretStore({ home: ${JSON.stringify(home)}, env: process.env, platform: 'linux' }).set('a', 'new');`;
    const code = `store.set('a', 'old');
      const { readFileSync } = await import('node:fs');
      const { execFileSync } = await import('node:child_process');
      const { account } = JSON.parse(readFileSync(${JSON.stringify(join(home, 'secrets.enc'))}, 'utf8')).key;
      execFileSync(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(replace)}, account]);
      return [await attempt(() => store.get('a')), store.get('a')];`;
    expect(await run('unlocked', code)).toEqual([
      expect.stringContaining('its key in the keychain, was changed'),
      'new',
    ]);
  });
});
