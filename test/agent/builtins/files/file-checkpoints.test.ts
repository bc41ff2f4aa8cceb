import { chmod, link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FileCheckpoints } from '../../../../src/agent/builtins/files/file-checkpoints.ts';
import { readReal } from '../../../../src/agent/builtins/files/real-file.ts';
import { temporaryRoot } from '../../transcript/sessions.ts';

const never = new AbortController().signal;

/** Checkpoints in a directory or in memory, and a file tool that changes files. */
async function open(where: 'disk' | 'memory' = 'disk') {
  const cwd = await temporaryRoot();
  const directory = where === 'disk' ? join(await temporaryRoot(), 'file-history') : undefined;
  const it = new FileCheckpoints(directory);
  const path = (name: string) => join(cwd, name);
  const change = async (name: string, content: string, checkpoints = it) => {
    await checkpoints.track(path(name), await readReal(path(name), never));
    await writeFile(path(name), content);
  };
  const rewind = (id: string, isDryRun = false) => it.rewind(id, { isDryRun, signal: never });
  const read = (name: string) => readFile(path(name), 'utf8').catch(() => null);
  return { it, cwd, directory: directory ?? '', path, change, rewind, read };
}

test.each(['disk', 'memory'] as const)(
  'files are restored as they were at each message: %s',
  async (where) => {
    const { it, path, change, rewind, read } = await open(where);
    await writeFile(path('old.txt'), 'one\ntwo\n');
    await it.begin('first', never);
    await change('old.txt', 'one\n2\n');
    await change('old.txt', 'one\n2\n3\n');
    await change('new.txt', 'new\n');
    await it.begin('second', never);
    await change('old.txt', 'changed\n');
    const preview = {
      filesChanged: [path('old.txt')],
      insertions: 3,
      deletions: 1,
      skippedLinks: 0,
      failures: [],
    };
    expect(await rewind('second', true)).toEqual(preview);
    expect(await read('old.txt')).toBe('changed\n');
    await rewind('second');
    expect([await read('old.txt'), await read('new.txt')]).toEqual(['one\n2\n3\n', 'new\n']);
    expect(await rewind('first')).toMatchObject({ filesChanged: [path('old.txt'), path('new.txt')] });
    expect([await read('old.txt'), await read('new.txt')]).toEqual(['one\ntwo\n', null]);
    await rewind('second');
    expect([await read('old.txt'), await read('new.txt')]).toEqual(['one\n2\n3\n', 'new\n']);
    expect(await rewind('second', true)).toMatchObject({ filesChanged: [], insertions: 0, deletions: 0 });
  },
);

test('a file that only a later checkpoint contains is restored to its state before that', async () => {
  const { it, path, change, rewind, read } = await open();
  await writeFile(path('a.txt'), 'original\n');
  await it.begin('first', never);
  await it.begin('second', never);
  await change('a.txt', 'changed\n');
  await rewind('first');
  expect(await read('a.txt')).toBe('original\n');
});

test('bytes and permissions of a file are restored', async () => {
  const { it, path, change, rewind } = await open();
  const bytes = Buffer.from([0, 255, 13, 10]);
  await writeFile(path('tool'), bytes);
  await chmod(path('tool'), 0o750);
  await it.begin('first', never);
  await change('tool', 'text');
  await rewind('first');
  expect(await readFile(path('tool'))).toEqual(bytes);
  expect((await stat(path('tool'))).mode & 0o777).toBe(0o750);
});

test('rewinding to an unknown message, or after a restart, changes nothing', async () => {
  const { it, change, rewind, read } = await open();
  expect(await rewind('unknown')).toBeUndefined();
  await it.begin('first', never);
  await change('a.txt', 'a\n');
  it.restart(undefined);
  expect(await rewind('first')).toBeUndefined();
  expect(await read('a.txt')).toBe('a\n');
});

test('a resumed session has the checkpoints of the earlier process; damaged lines are skipped', async () => {
  const { it, directory, change, rewind, read } = await open();
  await it.begin('first', never);
  await change('a.txt', 'one\n');
  await it.begin('second', never);
  await change('a.txt', 'two\n');
  const hostile = JSON.stringify({ messageId: 'second', files: [['/x', { copy: '../../x', mode: 0 }]] });
  await writeFile(join(directory, 'index.jsonl'), `${hostile}\n{"messageId":"thi`, { flag: 'a' });
  const resumed = new FileCheckpoints(directory);
  const rewound = await resumed.rewind('second', { isDryRun: false, signal: never });
  expect(rewound).toMatchObject({ filesChanged: [expect.stringContaining('a.txt')] });
  expect(await read('a.txt')).toBe('one\n');
  await rewind('first');
  expect(await read('a.txt')).toBeNull();
});

test('the copies can be read only by the user', async () => {
  const { it, path, directory, change } = await open();
  await writeFile(path('a.txt'), 'secret\n');
  await it.begin('first', never);
  await change('a.txt', 'x\n');
  const names = await readdir(directory);
  expect(names).toHaveLength(2);
  for (const name of names) expect((await stat(join(directory, name))).mode & 0o077).toBe(0);
});

test.each<[string, (path: string, target: string) => Promise<unknown>]>([
  ['a symbolic link', (path, target) => symlink(target, path)],
  ['a second name of another file', (path, target) => link(target, path)],
  ['a directory', (path) => mkdir(path)],
])('a path that is %s now is left alone', async (_, replace) => {
  const { it, path, change, rewind, read } = await open();
  await writeFile(path('target.txt'), 'target\n');
  await it.begin('first', never);
  await change('a.txt', 'a\n');
  await change('b.txt', 'b\n');
  await rm(path('a.txt'));
  await replace(path('a.txt'), path('target.txt'));
  expect(await rewind('first')).toMatchObject({ skippedLinks: 1 });
  expect(await read('target.txt')).toBe('target\n');
  expect(await read('b.txt')).toBeNull();
});

test('a file that cannot be reached does not prevent the others from being restored', async () => {
  const { it, path, change, rewind, read } = await open();
  await mkdir(path('sub'));
  await it.begin('first', never);
  await change('a.txt', 'a\n');
  await change('sub/b.txt', 'b\n');
  await change('c.txt', 'c\n');
  await rm(path('sub'), { recursive: true });
  await writeFile(path('sub'), 'a file now\n');
  expect(await rewind('first')).toMatchObject({ failures: [expect.stringContaining('sub/b.txt: ENOTDIR')] });
  expect([await read('a.txt'), await read('c.txt')]).toEqual([null, null]);
});

test('a parent directory that is a link now is not followed', async () => {
  const { it, path, change, rewind } = await open();
  await mkdir(path('sub'));
  await mkdir(path('elsewhere'));
  await writeFile(path('sub/a.txt'), 'before\n');
  await it.begin('first', never);
  await change('sub/a.txt', 'after\n');
  await rm(path('sub'), { recursive: true });
  await symlink(path('elsewhere'), path('sub'));
  expect(await rewind('first')).toMatchObject({ skippedLinks: 1 });
  expect(await readdir(path('elsewhere'))).toEqual([]);
});
