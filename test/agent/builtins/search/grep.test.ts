import { symlinkSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GREP } from '../../../../src/agent/builtins/search/grep.ts';
import { call, directoryWith, done, failed, worldIn } from '../built-in-world.ts';

const FILES = {
  'a.ts': 'one\ntwo\nthree\nfour\nTwo\n',
  'src/b.md': 'two two\r\nlast\r\n',
  'src/c.tsx': 'none\n',
  'node_modules/p/i.ts': 'two\n',
  '.git/config': 'two\n',
  'binary.ts': Buffer.from('two\0'),
};

function searched(): string {
  const cwd = directoryWith(FILES);
  utimesSync(`${cwd}/a.ts`, 0, 1000);
  utimesSync(`${cwd}/src/b.md`, 0, 2000);
  return cwd;
}

test.each<[string, Record<string, unknown>, string]>([
  ['the files, newest first', {}, 'Found 2 files\nsrc/b.md\na.ts'],
  ['the lines', { output_mode: 'content' }, 'a.ts:2:two\nsrc/b.md:1:two two'],
  ['the lines without numbers', { output_mode: 'content', '-n': false }, 'a.ts:two\nsrc/b.md:two two'],
  [
    'the counts',
    { output_mode: 'count', '-i': true },
    'a.ts:2\nsrc/b.md:1\n\nFound 3 total occurrences across 2 files.',
  ],
  [
    'lines around',
    { output_mode: 'content', '-i': true, '-A': 1 },
    'a.ts:2:two\na.ts-3-three\n--\na.ts:5:Two\n--\nsrc/b.md:1:two two\nsrc/b.md-2-last',
  ],
  [
    'lines on both sides',
    { output_mode: 'content', '-C': 1, path: 'a.ts' },
    'a.ts-1-one\na.ts:2:two\na.ts-3-three',
  ],
  [
    'its own number wins over both',
    { output_mode: 'content', '-C': 1, '-B': 0, path: 'a.ts' },
    'a.ts:2:two\na.ts-3-three',
  ],
  ['context', { output_mode: 'content', context: 1, path: 'a.ts' }, 'a.ts-1-one\na.ts:2:two\na.ts-3-three'],
  [
    'only the matches',
    { output_mode: 'content', '-o': true, pattern: 't.' },
    'a.ts:2:tw\na.ts:3:th\nsrc/b.md:1:tw\nsrc/b.md:1:tw',
  ],
  [
    'all from an offset',
    { pattern: 'o$', output_mode: 'content', offset: 1, head_limit: 0 },
    'a.ts:5:Two\nsrc/b.md:1:two two',
  ],
  ['only a glob', { glob: '*.md' }, 'Found 1 file\nsrc/b.md'],
  ['only a glob with a directory', { glob: 'src/**' }, 'Found 1 file\nsrc/b.md'],
  ['all but a glob', { glob: '!*.md' }, 'Found 1 file\na.ts'],
  ['only a type', { type: 'ts' }, 'Found 1 file\na.ts'],
  ['a directory', { path: 'src' }, 'Found 1 file\nsrc/b.md'],
  ['installed packages when asked for', { path: 'node_modules' }, 'Found 1 file\nnode_modules/p/i.ts'],
  ['over lines', { pattern: 'e.t', multiline: true, output_mode: 'content' }, 'a.ts:1:one\na.ts:2:two'],
  ['nothing', { pattern: 'nowhere' }, 'No files found'],
  ['no line', { pattern: 'nowhere', output_mode: 'content' }, 'No matches found'],
  [
    'as many lines as wanted',
    { pattern: 'o', output_mode: 'content', head_limit: 2 },
    'a.ts:1:one\na.ts:2:two\n[More results after these 2 lines: use a narrower search or a higher head_limit]',
  ],
  [
    'all lines when they are just as many',
    { output_mode: 'content', head_limit: 2 },
    'a.ts:2:two\nsrc/b.md:1:two two',
  ],
  [
    'as many counts as wanted',
    { output_mode: 'count', head_limit: 1 },
    'a.ts:1\n[More results after these 1 lines: use a narrower search or a higher head_limit]',
  ],
])('gives %s', async (_, input, expected) => {
  expect(await call(GREP, { pattern: 'two', ...input }, worldIn(searched()))).toMatchObject(done(expected));
});

test.each<[string, Record<string, unknown>, string]>([
  [
    'a pattern that is none',
    { pattern: '(' },
    'Invalid regular expression: missing closing ): (. The syntax is RE2; set "-i" to ignore case and "multiline" to match across lines',
  ],
  [
    'an unknown type',
    { type: 'cobol' },
    expect.stringMatching(/^Unknown type "cobol": use one of c, cpp, .*, or set "glob" instead$/),
  ],
  ['a glob that is none', { glob: '../*' }, 'Invalid glob "../*": ".." is not allowed'],
  ['a missing path', { path: 'no' }, 'No such file or directory: CWD/no'],
  [
    'a link',
    { path: 'link' },
    'CWD/link leads through a symbolic link to CWD/a.ts: use a path without symbolic links instead',
  ],
])('refuses, and explains: %s', async (_, input, fault) => {
  const cwd = searched();
  symlinkSync('a.ts', `${cwd}/link`);
  const expected = typeof fault === 'string' ? fault.replaceAll('CWD', cwd) : fault;
  expect(await call(GREP, { pattern: 'two', ...input }, worldIn(cwd))).toEqual(failed(expected));
});

test('unreadable files are not searched, not even through a link', async () => {
  const cwd = directoryWith({ '.env': 'KEY=1', 'secret/f': 'KEY=2', open: 'KEY=3' });
  symlinkSync('.env', `${cwd}/innocent`);
  const world = worldIn(cwd, { isReadable: (path) => !/\/(secret|\.env)$/.test(path) });
  expect(await call(GREP, { pattern: 'KEY', output_mode: 'content' }, world)).toMatchObject(
    done('open:1:KEY=3'),
  );
});

test('long lines and long answers are cut', async () => {
  const cwd = directoryWith({ f: `${'x'.repeat(502)}\n`.repeat(80) });
  const { content } = await call(GREP, { pattern: 'x', output_mode: 'content' }, worldIn(cwd));
  const lines = String(content).split('\n');
  expect(lines[0]).toBe(`f:1:${'x'.repeat(500)} [2 more characters]`);
  expect(lines.at(-1)).toBe(
    '[More results after these 57 lines: use a narrower search or a higher head_limit]',
  );
});

test.each([
  ['content', { content: 'f0:1:x', numFiles: 0, filenames: [], numLines: 1 }],
  ['count', { content: 'f0:1', numFiles: 2, filenames: [], numMatches: 2 }],
  ['files_with_matches', { filenames: ['f0'], numFiles: 1, totalFiles: 3 }],
])('the data of a limited search for %s', async (mode, expected) => {
  const cwd = directoryWith({ f0: 'x', f1: 'x', f2: 'x' });
  for (const [at, name] of ['f0', 'f1', 'f2'].entries()) utimesSync(`${cwd}/${name}`, 0, 1000 - at);
  const outcome = await call(GREP, { pattern: 'x', output_mode: mode, head_limit: 1 }, worldIn(cwd));
  expect(outcome.programResult).toEqual({ mode, ...expected, appliedLimit: 1 });
});
