import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { fileSecretStore } from '../../../src/config/secrets/secret-store.ts';

const MODULE = new URL('../../../src/config/secrets/secret-store.ts', import.meta.url);

function place() {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'home', 'secrets.json');
  return { directory, path, store: fileSecretStore(path) };
}

/** A file that is there already, with the rights it should have. */
function written(text: string, mode = 0o600) {
  const made = place();
  mkdirSync(join(made.directory, 'home'));
  writeFileSync(made.path, text);
  chmodSync(made.path, mode);
  return made;
}

test('stores secrets for later processes until they are removed', () => {
  const { path, store } = place();
  expect(store.names()).toEqual([]);
  expect(store.get('a')).toBeUndefined();
  store.set('b', 'two');
  store.set('a', 'o\nne');
  store.set('a', 'one');
  const later = fileSecretStore(path);
  expect([later.get('a'), later.get('b'), later.names()]).toEqual(['one', 'two', ['a', 'b']]);
  expect(later.remove('a')).toBe(true);
  expect(later.remove('a')).toBe(false);
  expect(store.names()).toEqual(['b']);
});

test('creates a private file and leaves no other files', () => {
  const { directory, path, store } = place();
  store.set('a', 'one');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, 'home')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(directory, 'home'))).toEqual(['secrets.json']);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ version: 1, secrets: { a: 'one' } });
});

const GOOD = '{"version":1,"secrets":{"a":"one"}}';

test.each([0o640, 0o604, 0o620, 0o666])('refuses mode %o and names the command to run', (mode) => {
  const { path, store } = written(GOOD, mode);
  const fault = `cannot use the secrets in ${path}: other users can read the file; run: chmod 600 ${path}`;
  expect(() => store.get('a')).toThrow(fault);
  expect(() => store.set('b', 'x')).toThrow(fault);
  expect(readFileSync(path, 'utf8')).toBe(GOOD);
});

test('does not follow links', () => {
  const { directory, path, store } = written(GOOD);
  const link = join(directory, 'secrets.json');
  symlinkSync(path, link);
  expect(store.get('a')).toBe('one');
  expect(() => fileSecretStore(link).get('a')).toThrow('the file must not be a symbolic link');
  expect(() => fileSecretStore(link).set('a', 'x')).toThrow('the file must not be a symbolic link');
  expect(readFileSync(path, 'utf8')).toBe(GOOD);
});

test.runIf(process.getuid?.() === 0 || statSync('/etc/passwd').uid !== process.getuid?.())(
  'a file of another user is not used',
  async () => {
    const { path, store } = written(GOOD);
    if (process.getuid?.() !== 0) {
      expect(() => fileSecretStore('/etc/passwd').names()).toThrow('belongs to another user');
      return;
    }
    const { chownSync } = await import('node:fs');
    chownSync(path, 12_345, 12_345);
    expect(() => store.get('a')).toThrow('the file belongs to another user (12345)');
  },
);

test.each([
  ['no JSON', '{"version":1,"secrets":{"a":"hush-hush"', 'not valid JSON'],
  ['an empty file', '', 'not valid JSON'],
  ['no version', '{"secrets":{}}', 'has no "version"'],
  [
    'a newer one',
    '{"version":2,"vault":"hush-hush"}',
    'version 2 is newer than this Toolplane supports; update',
  ],
  [
    'an older one that never was',
    '{"version":0,"secrets":{}}',
    'the file must have "version": 1 and an object "secrets"',
  ],
  ['a list', '{"version":1,"secrets":["hush-hush"]}', 'an object "secrets"'],
  ['a value that is none', '{"version":1,"secrets":{"a":5,"b":"hush-hush"}}', 'contains an invalid secret'],
  ['a name that is none', '{"version":1,"secrets":{"hush-hush!":"x"}}', 'contains an invalid secret'],
])('%s: reports it without its content and never overwrites it', (_, text, fault) => {
  const { path, store } = written(text);
  for (const use of [
    () => store.get('a'),
    () => store.names(),
    () => store.set('c', 'x'),
    () => store.remove('a'),
  ]) {
    expect(use).toThrow(fault);
    expect(use).not.toThrow('hush-hush');
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('refuses a directory in its place', () => {
  const { directory } = place();
  expect(() => fileSecretStore(directory).names()).toThrow('not a regular file');
});

test('reports a directory that cannot be created', () => {
  const { path } = written(GOOD);
  expect(() => fileSecretStore(join(path, 'secrets.json')).set('a', 'x')).toThrow('cannot be written');
});

test.each([
  ['', 'x', 'the name of a secret must have'],
  ['a b', 'x', 'the name of a secret must have'],
  ['x'.repeat(129), 'x', 'the name of a secret must have'],
  ['a', '', 'is empty'],
  ['a', 'a\0', 'NUL'],
  ['a', '\ud800', 'not valid Unicode'],
  ['a', 'é'.repeat(32 * 1024 + 1), 'longer than 64 KiB'],
])('refuses %j with such a value', (name, value, fault) => {
  const { store } = place();
  expect(() => store.set(name, value)).toThrow(fault);
  expect(store.names()).toEqual([]);
});

test('accepts names of inherited properties', () => {
  const { store } = place();
  expect(store.get('constructor')).toBeUndefined();
  store.set('__proto__', 'x');
  expect([store.get('__proto__'), store.names()]).toEqual(['x', ['__proto__']]);
});

test('returns any stored name and value', () => {
  const { store } = place();
  const name = fc.stringMatching(/^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}$/);
  const value = fc.string({ minLength: 1, unit: 'grapheme' }).filter((it) => !it.includes('\0'));
  fc.assert(
    fc.property(name, value, (called, kept) => {
      store.set(called, kept);
      expect(store.get(called)).toBe(kept);
    }),
    { numRuns: 30 },
  );
});

test('concurrent processes lose nothing', async () => {
  const { path, store } = place();
  const code = `const { fileSecretStore } = await import(${JSON.stringify(pathToFileURL(MODULE.pathname).href)});
    const store = fileSecretStore(process.argv[1]);
    for (let n = 0; n < 20; n++) store.set(process.argv[2] + n, 'x');`;
  const children = ['a', 'b', 'c'].map((name) =>
    spawn(process.execPath, ['--input-type=module', '-e', code, path, name], { stdio: 'inherit' }),
  );
  expect(await Promise.all(children.map((child) => once(child, 'exit')))).toEqual(Array(3).fill([0, null]));
  expect(store.names()).toHaveLength(60);
});
