import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { READ } from '../../../../src/agent/builtins/files/read.ts';
import { WRITE } from '../../../../src/agent/builtins/files/write.ts';
import { call, directoryWith, done, failed, put, worldIn } from '../built-in-world.ts';

test('creates a file and the directories above it, and leaves no draft behind', async () => {
  const cwd = directoryWith();
  const outcome = await call(WRITE, { file_path: 'a/b/c.txt', content: 'grüße\n' }, worldIn(cwd));
  expect(outcome).toMatchObject(done(`File created successfully at: a/b/c.txt`));
  expect(readFileSync(`${cwd}/a/b/c.txt`, 'utf8')).toBe('grüße\n');
  expect(readdirSync(`${cwd}/a/b`)).toEqual(['c.txt']);
});

test('replaces a file that was read as a whole, keeps its mode, and may write it again', async () => {
  const cwd = directoryWith({ 'run.sh': 'old' });
  chmodSync(`${cwd}/run.sh`, 0o777);
  const world = worldIn(cwd);
  await call(READ, { file_path: 'run.sh' }, world);
  const reader = openSync(`${cwd}/run.sh`, 'r');
  for (const content of ['new', 'newer']) {
    expect(await call(WRITE, { file_path: 'run.sh', content }, world)).toMatchObject(
      done(`The file run.sh has been updated successfully.`),
    );
    expect(readFileSync(`${cwd}/run.sh`, 'utf8')).toBe(content);
  }
  expect(statSync(`${cwd}/run.sh`).mode & 0o777).toBe(0o777);
  expect(readFileSync(reader, 'utf8')).toBe('old');
  closeSync(reader);
});

test('a file this conversation has not read is not replaced', async () => {
  const cwd = directoryWith({ f: 'old' });
  expect(await call(WRITE, { file_path: 'f', content: 'new' }, worldIn(cwd))).toEqual(
    failed(`${cwd}/f has not been read in this conversation: read it with Read first`),
  );
  expect(readFileSync(`${cwd}/f`, 'utf8')).toBe('old');
});

test('a file that changed since is not replaced, even if its time stamp is the same', async () => {
  const cwd = directoryWith({ f: 'old' });
  const world = worldIn(cwd);
  await call(READ, { file_path: 'f' }, world);
  const { atime, mtime } = statSync(`${cwd}/f`);
  put(`${cwd}/f`, 'odd');
  utimesSync(`${cwd}/f`, atime, mtime);
  expect(await call(WRITE, { file_path: 'f', content: 'new' }, world)).toEqual(
    failed(`${cwd}/f has changed since it was read: read it again with Read before changing it`),
  );
  expect(readFileSync(`${cwd}/f`, 'utf8')).toBe('odd');
});

test('a file that was only touched since is replaced', async () => {
  const cwd = directoryWith({ f: 'old' });
  const world = worldIn(cwd);
  await call(READ, { file_path: 'f' }, world);
  utimesSync(`${cwd}/f`, 1, 1);
  expect(await call(WRITE, { file_path: 'f', content: 'new' }, world)).toMatchObject(
    done(`The file f has been updated successfully.`),
  );
});

test.each<[string, string, string]>([
  ['a directory', 'd', 'CWD/d is a directory: list its files with Glob'],
  ['below a file', 'f/x', 'A parent of the path is not a directory: CWD/f/x'],
  [
    'a link',
    'link',
    'CWD/link leads through a symbolic link to CWD/f: use a path without symbolic links instead',
  ],
  [
    'a dangling link',
    'dangling',
    'CWD/dangling leads through a broken symbolic link: use a path without symbolic links instead',
  ],
  [
    'a new file through a link',
    'out/new',
    'CWD/out leads through a symbolic link to CWD/d: use a path without symbolic links instead',
  ],
  ['a name too long', 'n'.repeat(300), `The name is too long: CWD/${'n'.repeat(300)}`],
])('is not written, with the reason: %s', async (_, path, fault) => {
  const cwd = directoryWith({ f: 'old' });
  mkdirSync(`${cwd}/d`);
  symlinkSync('f', `${cwd}/link`);
  symlinkSync('nowhere', `${cwd}/dangling`);
  symlinkSync('d', `${cwd}/out`);
  expect(await call(WRITE, { file_path: path, content: 'new' }, worldIn(cwd))).toEqual(
    failed(fault.replaceAll('CWD', cwd)),
  );
  expect(readFileSync(`${cwd}/f`, 'utf8')).toBe('old');
  expect(readdirSync(`${cwd}/d`)).toEqual([]);
});
