import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileState, followLinks, replaceFile } from '../../../src/base/files/replace-file.ts';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';

test('a new file has the given mode regardless of the umask; by default only its owner can read it', async () => {
  const root = await temporaryRoot();
  replaceFile(join(root, 'a'), 'x');
  replaceFile(join(root, 'b'), new Uint8Array([0, 255]), { mode: 0o666 });
  expect(['a', 'b'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o600, 0o666]);
  expect([...readFileSync(join(root, 'b'))]).toEqual([0, 255]);
});

test('an existing file is replaced and keeps its mode', async () => {
  const root = await temporaryRoot();
  const path = join(root, 'a');
  writeFileSync(path, 'old');
  chmodSync(path, 0o764);
  const { ino } = statSync(path);
  replaceFile(path, 'new', { mode: 0o600 });
  expect(statSync(path).mode & 0o777).toBe(0o764);
  expect(statSync(path).ino).not.toBe(ino);
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(readdirSync(root)).toEqual(['a']);
});

test('symbolic links are kept, chained and dangling ones too', async () => {
  const root = await temporaryRoot();
  mkdirSync(join(root, 'real', 'deep'), { recursive: true });
  symlinkSync('real/deep', join(root, 'directory'));
  symlinkSync('../target', join(root, 'real', 'deep', 'second'));
  symlinkSync('directory/second', join(root, 'first'));
  replaceFile(join(root, 'first'), 'x');
  expect(readFileSync(join(root, 'real', 'target'), 'utf8')).toBe('x');
  expect(lstatSync(join(root, 'first')).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(root, 'directory', 'second')).isSymbolicLink()).toBe(true);
});

test('a cycle of links is an error', async () => {
  const path = join(await temporaryRoot(), 'circle');
  symlinkSync('circle', path);
  expect(() => followLinks(path)).toThrow('is a symbolic link that forms a loop');
});

test('a failure leaves no temporary file', async () => {
  const root = await temporaryRoot();
  mkdirSync(join(root, 'directory'));
  expect(() => replaceFile(join(root, 'directory'), 'x')).toThrow();
  expect(readdirSync(root)).toEqual(['directory']);
  expect(() => replaceFile(join(root, 'none', 'x'), 'x')).toThrow('ENOENT');
});

test('a file that was changed meanwhile is not replaced, and the result is false', async () => {
  const root = await temporaryRoot();
  const path = join(root, 'a');
  writeFileSync(path, 'theirs');
  const names: string[][] = [];
  const isStill = (): boolean => {
    names.push(readdirSync(root));
    return names.length > 1;
  };
  expect(replaceFile(path, 'ours', { isStill })).toBe(false);
  expect([readFileSync(path, 'utf8'), readdirSync(root)]).toEqual(['theirs', ['a']]);
  expect(names[0]).toHaveLength(2);
  expect(replaceFile(path, 'ours', { isStill })).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe('ours');
});

test('the fingerprint of a file changes with each write', async () => {
  const path = join(await temporaryRoot(), 'a');
  expect(fileState(path)).toBe(fileState(path));
  const absent = fileState(path);
  writeFileSync(path, 'one');
  utimesSync(path, 1, 1);
  const first = fileState(path);
  expect(fileState(path)).toBe(first);
  writeFileSync(path, 'two');
  const second = fileState(path);
  replaceFile(path, 'two');
  expect(new Set([absent, first, second, fileState(path)]).size).toBe(4);
});
