import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SealedFile } from '../../../src/config/secrets/sealed-file.ts';
import { openSecretStore } from '../../../src/config/secrets/secret-store.ts';
import { storeKeys } from '../../../src/config/secrets/store-key.ts';
import { type SecretHome, secretHome } from './secret-home.ts';

const kindOf = (home: SecretHome) => JSON.parse(readFileSync(home.sealed, 'utf8')).key.kind;
const withEnv = (home: SecretHome, env: Record<string, string>) => ({
  ...home,
  env: { ...home.env, ...env },
});

test('a file of this machine cannot be decrypted on another machine', () => {
  const home = secretHome();
  const on = (machine: string) =>
    new SealedFile(
      home.sealed,
      storeKeys(home, () => machine),
    );
  on('one').change(({ secrets }) => Boolean(secrets.set('a', 'x')));
  expect(on('one').read().secrets.get('a')).toBe('x');
  expect(() => on('other').read()).toThrow('the file was encrypted on another machine or by another user');
  expect(() => on('other').change(() => true)).toThrow('set TOOLPLANE_PASSPHRASE there');
});

test.each([
  ['missing', undefined, 'is missing'],
  ['damaged', '{"version":1,"key":"AAAA"}', 'is damaged'],
  ['no JSON', 'x', 'is damaged'],
  [
    'of another home',
    JSON.stringify({ version: 1, key: Buffer.alloc(32).toString('base64') }),
    'was changed or damaged',
  ],
])('a key that is %s is reported, and the file is kept', (_, key, fault) => {
  const home = secretHome();
  openSecretStore(home).set('a', 'x');
  const text = readFileSync(home.sealed, 'utf8');
  if (key === undefined) rmSync(home.seed);
  else writeFileSync(home.seed, key);
  expect(() => openSecretStore(home).get('a')).toThrow(fault);
  expect(() => openSecretStore(home).set('b', 'x')).toThrow(fault);
  expect(readFileSync(home.sealed, 'utf8')).toBe(text);
});

test('a passphrase encrypts without a key file and is needed to decrypt', () => {
  const home = secretHome({ TOOLPLANE_PASSPHRASE: 'correct horse' });
  openSecretStore(home).set('a', 'x');
  expect(kindOf(home)).toBe('passphrase');
  expect(openSecretStore(home).get('a')).toBe('x');
  expect(() => openSecretStore(withEnv(home, { TOOLPLANE_PASSPHRASE: '' })).get('a')).toThrow(
    `cannot use the secrets in ${home.sealed}: the file is encrypted with a passphrase; set TOOLPLANE_PASSPHRASE`,
  );
  const wrong = openSecretStore(withEnv(home, { TOOLPLANE_PASSPHRASE: 'battery staple' }));
  expect(() => wrong.get('a')).toThrow('TOOLPLANE_PASSPHRASE is not the passphrase of the file');
  expect(() => wrong.set('a', 'y')).toThrow('TOOLPLANE_PASSPHRASE is not');
  expect(() => wrong.get('a')).not.toThrow('battery');
});

test('a passphrase that is set later applies from the next change', () => {
  const home = secretHome();
  openSecretStore(home).set('a', 'x');
  const later = openSecretStore(withEnv(home, { TOOLPLANE_PASSPHRASE: 'correct horse' }));
  expect([later.get('a'), kindOf(home)]).toEqual(['x', 'machine']);
  later.set('b', 'y');
  expect([later.names(), kindOf(home)]).toEqual([['a', 'b'], 'passphrase']);
  expect(() => openSecretStore(home).get('a')).toThrow('set TOOLPLANE_PASSPHRASE');
});

test('an invalid choice is reported', () => {
  const home = secretHome({ TOOLPLANE_SECRETS: 'vault' });
  expect(() => openSecretStore(home).set('a', 'x')).toThrow(
    'the variable TOOLPLANE_SECRETS is invalid; set it to auto, keychain or file',
  );
});
