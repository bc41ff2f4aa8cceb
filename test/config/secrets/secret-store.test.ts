import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openSecretStore } from '../../../src/config/secrets/secret-store.ts';
import { type SecretHome, secretHome } from './secret-home.ts';

test('stores secrets for later processes until they are removed', () => {
  const home = secretHome();
  const store = openSecretStore(home);
  expect(store.names()).toEqual([]);
  expect(store.get('a')).toBeUndefined();
  store.set('b', 'two');
  store.set('a', 'o\nne');
  store.set('a', 'one');
  const later = openSecretStore(home);
  expect([later.get('a'), later.get('b'), later.names()]).toEqual(['one', 'two', ['a', 'b']]);
  expect(later.remove('a')).toBe(true);
  expect(later.remove('a')).toBe(false);
  expect(store.names()).toEqual(['b']);
});

test('creates private files without a readable value, and leaves no other files', () => {
  const home = secretHome();
  openSecretStore(home).set('planted-name', 'planted-value');
  expect(statSync(home.home).mode & 0o777).toBe(0o700);
  expect(readdirSync(home.home).sort()).toEqual(['secrets.enc', 'secrets.key']);
  for (const path of [home.sealed, home.seed]) {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const encoding of ['utf8', 'base64', 'hex'] as const)
      expect(readFileSync(path, 'utf8')).not.toContain(Buffer.from('planted-value').toString(encoding));
    expect(readFileSync(path, 'utf8')).not.toContain('planted-name');
  }
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
  const store = openSecretStore(secretHome());
  expect(() => store.set(name, value)).toThrow(fault);
  expect(store.names()).toEqual([]);
});

test('accepts names of inherited properties', () => {
  const store = openSecretStore(secretHome());
  expect(store.get('constructor')).toBeUndefined();
  store.set('__proto__', 'x');
  expect([store.get('__proto__'), store.names()]).toEqual(['x', ['__proto__']]);
});

test('returns any stored name and value', () => {
  const store = openSecretStore(secretHome());
  const name = fc.stringMatching(/^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}$/);
  const value = fc.string({ minLength: 1, unit: 'grapheme' }).filter((it) => !it.includes('\0'));
  fc.assert(
    fc.property(name, value, (called, kept) => {
      store.set(called, kept);
      expect(store.get(called)).toBe(kept);
    }),
    { numRuns: 30, seed: 7 },
  );
});

test('reports a directory that cannot be created', () => {
  const home = secretHome();
  writeFileSync(home.home, '');
  expect(() => openSecretStore(home).set('a', 'x')).toThrow('cannot be written');
});

const MODULE = new URL('../../../src/config/secrets/secret-store.ts', import.meta.url).href;

/** Runs code in another process, with `store` and `home` defined. */
async function inProcess(home: SecretHome, code: string): Promise<[number | null, string | null]> {
  const { home: path, env, platform } = home;
  const script = `const { openSecretStore } = await import(${JSON.stringify(MODULE)});
    const store = openSecretStore(${JSON.stringify({ home: path, env, platform })});
    ${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  return (await once(child, 'exit')) as [number | null, string | null];
}

test('two processes that write 200 secrets each keep those of the other', async () => {
  const home = secretHome();
  const write = (name: string) =>
    inProcess(home, `for (let n = 0; n < 200; n++) store.set('${name}' + n, 'x');`);
  expect(await Promise.all(['a', 'b'].map(write))).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(openSecretStore(home).names()).toHaveLength(400);
});

describe('the unencrypted file of earlier versions', () => {
  const SECRETS = { a: 'planted-one', b: 'planted-two' };
  const text = (secrets: object) => JSON.stringify({ version: 1, secrets });

  const all = (home: SecretHome) => {
    const store = openSecretStore(home);
    return Object.fromEntries(store.names().map((name) => [name, store.get(name)]));
  };

  /** The names of the files that contain a value in plain text. */
  const readable = (home: SecretHome) =>
    readdirSync(home.home).filter((name) => readFileSync(join(home.home, name), 'utf8').includes('planted-'));

  test('is encrypted and erased at the first access, which is reported once', () => {
    const home = secretHome();
    home.write(home.plain, text(SECRETS));
    const notes: string[] = [];
    const store = openSecretStore(home, (note) => notes.push(note));
    expect([store.get('a'), store.get('b')]).toEqual(['planted-one', 'planted-two']);
    expect(readdirSync(home.home).sort()).toEqual(['secrets.enc', 'secrets.key']);
    expect(notes).toEqual([
      `secrets are encrypted now: ${home.sealed} replaces ${home.plain}, which was erased`,
    ]);
  });

  test('adds to the encrypted file and replaces secrets of the same name', () => {
    const home = secretHome();
    const store = openSecretStore(home);
    store.set('a', 'old');
    store.set('c', 'kept');
    home.write(home.plain, text(SECRETS));
    store.set('d', 'new');
    expect(all(home)).toEqual({ ...SECRETS, c: 'kept', d: 'new' });
    expect(existsSync(home.plain)).toBe(false);
  });

  test.each([0o640, 0o604, 0o620, 0o666])('is refused with mode %o, with the command to run', (mode) => {
    const home = secretHome();
    home.write(home.plain, text(SECRETS), mode);
    const store = openSecretStore(home);
    const fault = `cannot use the secrets in ${home.plain}: other users can read the file; run: chmod 600 ${home.plain}`;
    expect(() => store.get('a')).toThrow(fault);
    expect(() => store.set('b', 'x')).toThrow(fault);
    expect(readFileSync(home.plain, 'utf8')).toBe(text(SECRETS));
    chmodSync(home.plain, 0o600);
    expect(all(home)).toEqual(SECRETS);
  });

  test('is refused if it is a link', () => {
    const home = secretHome();
    const other = join(home.home, 'other');
    home.write(other, text(SECRETS));
    symlinkSync(other, home.plain);
    expect(() => openSecretStore(home).get('a')).toThrow('the file is a symbolic link; replace it');
    expect(readFileSync(other, 'utf8')).toBe(text(SECRETS));
  });

  test.each([
    ['no JSON', '{"version":1,"secrets":{"a":"hush-hush"', 'not valid JSON'],
    ['an empty file', '', 'not valid JSON'],
    ['no version', '{"secrets":{}}', 'has no "version"'],
    [
      'a newer one',
      '{"version":2,"vault":"hush-hush"}',
      'version 2 is newer than this Toolplane supports; update',
    ],
    ['an older one', '{"version":0,"secrets":{}}', 'the file must have "version": 1 and an object "secrets"'],
    ['a list', '{"version":1,"secrets":["hush-hush"]}', 'an object "secrets"'],
    ['an invalid value', '{"version":1,"secrets":{"a":5,"b":"hush-hush"}}', 'contains an invalid secret'],
    ['an invalid name', '{"version":1,"secrets":{"hush-hush!":"x"}}', 'contains an invalid secret'],
  ])('with %s is reported without its content and neither erased nor encrypted', (_, content, fault) => {
    const home = secretHome();
    home.write(home.plain, content);
    const store = openSecretStore(home);
    for (const use of [
      () => store.get('a'),
      () => store.names(),
      () => store.set('c', 'x'),
      () => store.remove('a'),
    ]) {
      expect(use).toThrow(fault);
      expect(use).not.toThrow('hush-hush');
    }
    expect(readFileSync(home.plain, 'utf8')).toBe(content);
    expect(readdirSync(home.home)).toEqual(['secrets.json']);
  });

  test('is kept if the encrypted file cannot be decrypted', () => {
    const home = secretHome();
    home.write(home.plain, text(SECRETS));
    home.write(home.sealed, '{"version":3}');
    expect(() => openSecretStore(home).get('a')).toThrow('version 3 is newer than this Toolplane supports');
    expect([readFileSync(home.plain, 'utf8'), readFileSync(home.sealed, 'utf8')]).toEqual([
      text(SECRETS),
      '{"version":3}',
    ]);
  });

  test('is still used if nothing can be written', () => {
    const home = secretHome();
    home.write(home.plain, text(SECRETS));
    // No key can be written. A read-only directory would not do: the superuser may write to it.
    symlinkSync('/proc/nothing/secrets', home.seed);
    expect(all(home)).toEqual(SECRETS);
    expect(readFileSync(home.plain, 'utf8')).toBe(text(SECRETS));
    expect(() => openSecretStore(home).set('c', 'x')).toThrow('cannot be written');
  });

  /** Kills the process after the given number of changes to the disk. */
  const KILLED_AFTER = `
    const fs = (await import('node:fs')).default;
    let left = Number(process.argv[1]);
    for (const name of ['openSync', 'writeFileSync', 'writeSync', 'renameSync', 'rmSync']) {
      const own = fs[name];
      fs[name] = (...args) => {
        const result = own(...args);
        if (name !== 'openSync' || typeof args[1] === 'string') if (left-- === 0) process.kill(process.pid, 'SIGKILL');
        return result;
      };
    }
    (await import('node:module')).syncBuiltinESMExports();`;

  test('survives a crash after each step: nothing is lost, and the next access completes the work', async () => {
    const long = { ...SECRETS, long: `planted-${'x'.repeat(10_000)}` };
    const run = async (step: number): Promise<boolean> => {
      const home = secretHome();
      home.write(home.plain, text(long));
      const { home: path, env, platform } = home;
      const script = `${KILLED_AFTER}
        const { openSecretStore } = await import(${JSON.stringify(MODULE)});
        openSecretStore(${JSON.stringify({ home: path, env, platform })}).names();`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, String(step)], {
        stdio: 'inherit',
      });
      const [code] = await once(child, 'exit');
      expect([step, all(home)]).toEqual([step, long]);
      expect([step, readable(home)]).toEqual([step, []]);
      expect(existsSync(home.plain)).toBe(false);
      return code === 0;
    };
    const isDone: boolean[] = [];
    while (!isDone.includes(true)) {
      const first = isDone.length;
      isDone.push(...(await Promise.all([0, 1, 2, 3].map((next) => run(first + next)))));
    }
    expect(isDone.indexOf(true)).toBeGreaterThan(8);
  });
});
