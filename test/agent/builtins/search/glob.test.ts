import { symlinkSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GLOB } from '../../../../src/agent/builtins/search/glob.ts';
import { call, directoryWith, done, failed, worldIn } from '../built-in-world.ts';

/** Files of which each is a minute older than the one before. */
function aged(names: readonly string[]): string {
  const cwd = directoryWith(Object.fromEntries(names.map((name) => [name, ''])));
  for (const [at, name] of names.entries()) utimesSync(`${cwd}/${name}`, 0, 1_000_000 - at * 60);
  return cwd;
}

const FILES = ['z.ts', 'src/m.ts', 'a.ts', 'src/deep/b.ts', 'node_modules/p/i.ts', '.git/hook.ts', 'a.md'];

test.each<[string, Record<string, unknown>, string]>([
  ['newest first', { pattern: '**/*.ts' }, 'z.ts\nsrc/m.ts\na.ts\nsrc/deep/b.ts'],
  ['directly in the directory', { pattern: '*.ts' }, 'z.ts\na.ts'],
  ['below a path', { pattern: '**/*.ts', path: 'src' }, 'src/m.ts\nsrc/deep/b.ts'],
  ['installed packages when they are named', { pattern: 'node_modules/**/*.ts' }, 'node_modules/p/i.ts'],
  ['the same when the path is in them', { pattern: '**', path: 'node_modules/p' }, 'node_modules/p/i.ts'],
  ['version control when it is named', { pattern: '.git/*' }, '.git/hook.ts'],
  ['by a pattern with the whole path', { pattern: 'CWD/src/*.ts' }, 'src/m.ts'],
  ['nothing', { pattern: '*.py' }, 'No files found'],
])('finds files: %s', async (_, input, expected) => {
  const cwd = aged(FILES);
  const given = { ...input, pattern: String(input.pattern).replace('CWD', cwd) };
  expect(await call(GLOB, given, worldIn(cwd))).toMatchObject(done(expected.replace('CWD', cwd)));
});

test.each<[string, Record<string, unknown>, string]>([
  [
    'out of the path',
    { pattern: '/etc/*' },
    'The pattern is outside CWD: set "path" to the directory in which the pattern starts',
  ],
  ['upwards', { pattern: '../*' }, 'Invalid pattern "../*": ".." is not allowed'],
  ['a file', { pattern: '*', path: 'a.md' }, 'CWD/a.md is a file: set "path" to a directory'],
  ['a missing path', { pattern: '*', path: 'no' }, 'No such file or directory: CWD/no'],
  [
    'a link',
    { pattern: '*', path: 'link' },
    'CWD/link leads through a symbolic link to CWD/src: use a path without symbolic links instead',
  ],
])('refuses, and explains: %s', async (_, input, fault) => {
  const cwd = aged(FILES);
  symlinkSync('src', `${cwd}/link`);
  expect(await call(GLOB, input, worldIn(cwd))).toEqual(failed(fault.replaceAll('CWD', cwd)));
});

test('a path outside the working directory is shown whole', async () => {
  const other = aged(['x']);
  expect(await call(GLOB, { pattern: '*', path: other }, worldIn(aged([])))).toMatchObject(
    done(`${other}/x`),
  );
});

test('at most 100 files are shown, with the number of the others', async () => {
  const cwd = aged(Array.from({ length: 103 }, (_, at) => `f${at}`));
  const { content, programResult } = await call(GLOB, { pattern: '*' }, worldIn(cwd));
  expect(programResult).toEqual({
    filenames: Array.from({ length: 100 }, (_, at) => `f${at}`),
    durationMs: expect.any(Number),
    numFiles: 100,
    truncated: true,
    totalMatches: 103,
    countIsComplete: true,
  });
  expect(String(content).split('\n').slice(-2)).toEqual([
    'f99',
    '[3 older files omitted: use a narrower pattern or path]',
  ]);
});

test('directories that are links are not entered, and links to files count when their file may be read', async () => {
  const cwd = aged(['src/m.ts', 'hidden.ts']);
  symlinkSync('..', `${cwd}/src/up`);
  symlinkSync('m.ts', `${cwd}/src/link.ts`);
  symlinkSync('../hidden.ts', `${cwd}/src/out.ts`);
  symlinkSync('nowhere', `${cwd}/src/dangling.ts`);
  const world = worldIn(cwd, { isReadable: (path) => path !== `${cwd}/hidden.ts` });
  expect(await call(GLOB, { pattern: '**/*.ts' }, world)).toMatchObject(done('src/link.ts\nsrc/m.ts'));
});

test('unreadable directories are left out with everything below them', async () => {
  const cwd = aged(['a.ts', 'secret/b.ts', '.env']);
  const world = worldIn(cwd, { isReadable: (path) => !/\/(secret|\.env)$/.test(path) });
  expect(await call(GLOB, { pattern: '**' }, world)).toMatchObject(done('a.ts'));
});
