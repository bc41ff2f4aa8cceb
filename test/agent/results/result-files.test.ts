import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { extensionOf } from '../../../src/agent/results/binary.ts';
import { lastingStore, temporaryStore } from '../../../src/agent/results/result-files.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

test('files are readable by their owner only, and equal bytes are saved once', async () => {
  const directory = join(await temporaryRoot(), 'made', 'here');
  await using store = lastingStore(directory);
  const paths = await Promise.all(Array.from({ length: 20 }, () => store.save(Buffer.from('data'), '.txt')));
  const other = await store.save(Buffer.from('other'), '.txt');
  expect(new Set(paths).size).toBe(1);
  const path = paths[0] as string;
  expect(dirname(path)).toBe(directory);
  expect(await readFile(path, 'utf8')).toBe('data');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await readdir(directory)).sort()).toEqual(
    [path, other].map((it) => it.slice(directory.length + 1)).sort(),
  );
});

test('a file that was changed is overwritten', async () => {
  await using store = lastingStore(await temporaryRoot());
  const path = await store.save(Buffer.from('data'), '.txt');
  await writeFile(path, 'something else');
  expect(await store.save(Buffer.from('data'), '.txt')).toBe(path);
  expect(await readFile(path, 'utf8')).toBe('data');
});

test('a lasting store outlives its session, a temporary one does not', async () => {
  const lasting = lastingStore(await temporaryRoot());
  const kept = await lasting.save(Buffer.from('data'), '.txt');
  await lasting[Symbol.asyncDispose]();
  expect(await readFile(kept, 'utf8')).toBe('data');
  const temporary = temporaryStore();
  const path = await temporary.save(Buffer.from('data'), '.txt');
  expect(dirname(path)).toBe(temporary.directory);
  await temporary[Symbol.asyncDispose]();
  await expect(stat(temporary.directory)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each([
  ['temporary', async () => temporaryStore()],
  ['lasting', async () => lastingStore(await temporaryRoot())],
])('a %s store that is disposed waits for pending writes, and saves nothing more', async (kind, make) => {
  const store = await make();
  const saves = Array.from({ length: 20 }, (_, n) => store.save(Buffer.from(`${n}`), '.txt'));
  await store[Symbol.asyncDispose]();
  const left = await readdir(store.directory).catch(({ code }) => code);
  const paths = await Promise.all(saves);
  await expect(store.save(Buffer.from('late'), '.txt')).rejects.toThrow('the session has ended');
  expect(left).toEqual(
    kind === 'temporary' ? 'ENOENT' : expect.arrayContaining(paths.map((it) => basename(it))),
  );
});

test('temporary stores have random names in the temporary directory', () => {
  const directories = [temporaryStore(), temporaryStore()].map(({ directory }) => directory);
  expect(new Set(directories).size).toBe(2);
  expect(directories.every((it) => /\/toolplane-[0-9a-f-]{36}$/.test(it))).toBe(true);
  expect(dirname(directories[0] as string).endsWith(tmpdir().split('/').at(-1) as string)).toBe(true);
});

test('symbolic links in the directory are resolved, also before it exists', async () => {
  const root = lastingStore(await temporaryRoot()).directory;
  await mkdir(join(root, 'real'));
  await symlink('real', join(root, 'link'));
  expect(lastingStore(join(root, 'link', 'a', 'b')).directory).toBe(join(root, 'real', 'a', 'b'));
});

test('a failed write is reported and leaves no partial file', async () => {
  const directory = await temporaryRoot();
  await writeFile(join(directory, 'file'), '');
  await expect(lastingStore(join(directory, 'file')).save(Buffer.from('x'), '.txt')).rejects.toMatchObject({
    code: 'EEXIST',
  });
  const store = lastingStore(directory);
  const path = await store.save(Buffer.from('x'), '.txt');
  await chmod(path, 0o400);
  // A directory in the file's place: it cannot be replaced.
  const blocked = lastingStore(join(directory, 'other'));
  await mkdir(join(directory, 'other', path.slice(directory.length + 1), 'in'), { recursive: true });
  await expect(blocked.save(Buffer.from('x'), '.txt')).rejects.toThrow();
  expect(await readdir(join(directory, 'other'))).toEqual([path.slice(directory.length + 1)]);
});

test.each([
  ['image/png', '.png'],
  ['IMAGE/SVG+xml; charset=utf-8', '.svg'],
  ['audio/x-wav', '.wav'],
  ['text/x-python', '.txt'],
  ['application/octet-stream', '.bin'],
  ['application/x-sh', '.bin'],
  ['../../etc/passwd', '.bin'],
  ['text/../../x', '.txt'],
  ['', '.bin'],
])('the extension for %j is %s, never a text of the server', (mimeType, extension) => {
  expect(extensionOf(mimeType)).toBe(extension);
});
