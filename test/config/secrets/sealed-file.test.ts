import {
  chmodSync,
  chownSync,
  copyFileSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseSealed, SealedFile, seal, unseal } from '../../../src/config/secrets/sealed-file.ts';
import { storeKeys } from '../../../src/config/secrets/store-key.ts';
import { type SecretHome, secretHome } from './secret-home.ts';

const KEY = new Uint8Array(32).fill(7);
const HEADER = { kind: 'passphrase', salt: 'c2FsdA==', n: 32_768 } as const;

const open = (home: SecretHome) => new SealedFile(home.sealed, storeKeys(home));

function written(env: Record<string, string> = {}): SecretHome {
  const home = secretHome(env);
  open(home).change(({ secrets }) => Boolean(secrets.set('a', 'hush-hush')));
  return home;
}

test('the same text is encrypted differently each time', () => {
  const [one, other] = [seal('text', KEY, HEADER), seal('text', KEY, HEADER)];
  expect(one).not.toBe(other);
  for (const sealed of [one, other]) expect(unseal(parseSealed(sealed), KEY)).toBe('text');
});

const flipped = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return bytes.toString('base64');
};

type File = { version: unknown; key: Record<string, unknown>; iv: string; tag: string; data: string };

test.each<[string, (file: File) => unknown]>([
  ['a changed byte of the data', (file) => ({ ...file, data: flipped(file.data) })],
  ['a changed tag', (file) => ({ ...file, tag: flipped(file.tag) })],
  [
    'a shortened tag',
    (file) => ({ ...file, tag: Buffer.from(file.tag, 'base64').subarray(0, 4).toString('base64') }),
  ],
  ['a changed iv', (file) => ({ ...file, iv: flipped(file.iv) })],
  ['a shortened iv', (file) => ({ ...file, iv: 'AAAA' })],
  ['truncated data', (file) => ({ ...file, data: file.data.slice(0, 8) })],
  ['no data', (file) => ({ ...file, data: '' })],
  ['data that is not strict base64', (file) => ({ ...file, data: `${file.data}!` })],
  ['another salt', (file) => ({ ...file, key: { ...file.key, salt: 'AAAA' } })],
  ['another kind of key', (file) => ({ ...file, key: { ...file.key, kind: 'machine', machine: 'AAAA' } })],
  ['an unknown kind of key', (file) => ({ ...file, key: { ...file.key, kind: 'none' } })],
  ['a lower cost', (file) => ({ ...file, key: { ...file.key, n: 2 } })],
  ['a cost that needs gigabytes', (file) => ({ ...file, key: { ...file.key, n: 2 ** 30 } })],
  ['a cost that is no power of two', (file) => ({ ...file, key: { ...file.key, n: 32_767 } })],
  ['no header', ({ key: _, ...file }) => file],
  ['no version', ({ version: _, ...file }) => file],
  ['an earlier version', (file) => ({ ...file, version: 1 })],
  ['a list', (file) => [file]],
])('%s is refused', (_, change) => {
  const sealed = seal('hush-hush', KEY, HEADER);
  const changed = JSON.stringify(change(JSON.parse(sealed)));
  const use = () => unseal(parseSealed(changed), KEY);
  expect(use).toThrow('damaged');
  expect(use).not.toThrow('hush-hush');
});

test.each([
  ['truncated', (text: string) => text.slice(0, 60), 'the file is damaged'],
  ['empty', () => '', 'the file is damaged'],
  [
    'of a newer version',
    () => '{"version":3,"data":"x"}',
    'version 3 is newer than this Toolplane supports; update',
  ],
  [
    'changed',
    (text: string) =>
      text.replace(/"data":"./, (it) => it.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))),
    'the file or secrets.key was changed or damaged',
  ],
])('a file that is %s is reported and never overwritten', (_, change, fault) => {
  const home = written();
  const text = change(readFileSync(home.sealed, 'utf8'));
  writeFileSync(home.sealed, text);
  const file = open(home);
  const expected = `cannot use the secrets in ${home.sealed}: ${fault}`;
  expect(() => file.read()).toThrow(expected);
  expect(() => file.change(({ secrets }) => Boolean(secrets.set('b', 'x')))).toThrow(expected);
  expect(readFileSync(home.sealed, 'utf8')).toBe(text);
});

test.each([0o640, 0o604, 0o620, 0o666])('refuses mode %o and names the command to run', (mode) => {
  const home = written();
  const file = open(home);
  expect(file.read().secrets.get('a')).toBe('hush-hush');
  for (const path of [home.sealed, home.seed]) {
    chmodSync(path, mode);
    const fault = `other users can read the file; run: chmod 600 ${path}`;
    expect(() => open(home).read()).toThrow(fault);
    expect(() => open(home).change(() => true)).toThrow(fault);
    if (path === home.sealed) expect(() => file.read()).toThrow(fault);
    chmodSync(path, 0o600);
  }
});

test('refuses links and directories', () => {
  const home = written();
  const moved = join(home.home, 'moved');
  copyFileSync(home.sealed, moved);
  rmSync(home.sealed);
  symlinkSync(moved, home.sealed);
  expect(() => open(home).read()).toThrow('the file is a symbolic link; replace it');
  expect(() => open(home).change(() => true)).toThrow('the file is a symbolic link; replace it');
  expect(() => new SealedFile(home.home, storeKeys(home)).read()).toThrow('not a regular file');
});

test('refuses a file of another user', () => {
  const home = written();
  // Only the superuser can give files away.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(home.sealed, 12_345, 12_345);
  const file = isRoot ? open(home) : new SealedFile('/etc/passwd', storeKeys(home));
  expect(() => file.read()).toThrow(`the file belongs to another user (${isRoot ? 12_345 : 0})`);
});

test('decrypts again only after a change', () => {
  const home = written();
  const [one, other] = [open(home), open(home)];
  const before = one.read();
  expect(one.read()).toBe(before);
  other.change(({ secrets }) => Boolean(secrets.set('b', 'x')));
  expect([...one.read().secrets]).toEqual([
    ['a', 'hush-hush'],
    ['b', 'x'],
  ]);
});

test('a change by another process that took the lock of a slow one is kept', () => {
  const home = written();
  let isFirst = true;
  open(home).change(({ secrets }) => {
    if (isFirst) {
      isFirst = false;
      rmSync(`${home.sealed}.lock`);
      open(home).change((theirs) => Boolean(theirs.secrets.set('theirs', 'x')));
    }
    return Boolean(secrets.set('ours', 'y'));
  });
  expect([...open(home).read().secrets.keys()]).toEqual(['a', 'theirs', 'ours']);
});

test('a process that lost the lock of the first write keeps the key that the other one used', () => {
  const home = secretHome();
  const keys = storeKeys(home);
  let isFirst = true;
  const slow = new SealedFile(home.sealed, {
    ...keys,
    keyForWriting(current) {
      const created = keys.keyForWriting(current);
      if (isFirst) {
        isFirst = false;
        rmSync(`${home.sealed}.lock`);
        open(home).change((theirs) => Boolean(theirs.secrets.set('theirs', 'x')));
      }
      return created;
    },
  });
  slow.change(({ secrets }) => Boolean(secrets.set('ours', 'y')));
  expect([...open(home).read().secrets.keys()]).toEqual(['theirs', 'ours']);
});

test('a change that fails or returns false changes nothing', () => {
  const home = written();
  const file = open(home);
  const text = readFileSync(home.sealed, 'utf8');
  expect(file.change(({ secrets }) => !secrets.set('b', 'x'))).toBe(false);
  expect(() =>
    file.change(({ secrets }) => {
      secrets.clear();
      throw new Error('failed');
    }),
  ).toThrow('failed');
  expect([readFileSync(home.sealed, 'utf8'), [...file.read().secrets]]).toEqual([text, [['a', 'hush-hush']]]);
});
