import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type MemoryOptions, MemoryReader, rulesFor } from '../../../src/agent/memory/memory-files.ts';
import { memoryPlace } from './place.ts';

function read(files: Record<string, string>, more: Partial<MemoryOptions> = {}) {
  const place = memoryPlace(files, more);
  return { place, ...readIn(place) };
}

function readIn({ options, label }: ReturnType<typeof memoryPlace>) {
  const set = new MemoryReader(options).readStart();
  return {
    set,
    paths: set.files.map(({ path }) => label(path)),
    ignored: Object.fromEntries(set.ignored.map(({ path, reason }) => [label(path), reason])),
  };
}

const EVERYWHERE = {
  'above/project/CLAUDE.local.md': 'local',
  'above/project/.claude/rules/b.md': 'rule b',
  'above/project/.claude/rules/a/x.md': 'rule x',
  'above/project/.claude/CLAUDE.md': 'folder',
  'above/project/CLAUDE.md': 'project',
  'above/CLAUDE.local.md': 'above, local',
  'above/CLAUDE.md': 'above',
  'home/.claude/rules/r.md': 'user rule',
  'home/.claude/CLAUDE.md': 'user',
  'home/.toolplane/CLAUDE.md': 'user of Toolplane',
};

const USER = ['home/.claude/CLAUDE.md', 'home/.claude/rules/r.md', 'home/.toolplane/CLAUDE.md'];

test('the files of the user come first, then those of each directory from the top, and the local file last', () => {
  expect(read(EVERYWHERE).paths).toEqual([
    ...USER,
    'above/CLAUDE.md',
    'above/CLAUDE.local.md',
    'CLAUDE.md',
    '.claude/CLAUDE.md',
    '.claude/rules/a/x.md',
    '.claude/rules/b.md',
    'CLAUDE.local.md',
  ]);
});

test.each<[scopes: string[], paths: string[]]>([
  [[], []],
  [['user'], USER],
  [['local'], ['above/CLAUDE.local.md', 'CLAUDE.local.md']],
  [
    ['project'],
    ['above/CLAUDE.md', 'CLAUDE.md', '.claude/CLAUDE.md', '.claude/rules/a/x.md', '.claude/rules/b.md'],
  ],
])('only the sources %j are read', (scopes, paths) => {
  expect(read(EVERYWHERE, { scopes }).paths).toEqual(paths);
});

test('AGENTS.md is read where no CLAUDE.md is', () => {
  const { paths } = read({
    'above/AGENTS.md': 'read',
    'above/project/AGENTS.md': 'not read',
    'above/project/CLAUDE.md': 'read',
    'home/.toolplane/AGENTS.md': 'read',
  });
  expect(paths).toEqual(['home/.toolplane/AGENTS.md', 'above/AGENTS.md', 'CLAUDE.md']);
});

test('imports follow the file that imports them, to a depth of 4, and each file is read once', () => {
  const { paths, ignored } = read({
    'above/project/CLAUDE.md': '@x/1.md, @second.md. @missing.md @CLAUDE.md @x',
    'above/project/x/1.md': '@2.md @../CLAUDE.md',
    'above/project/x/2.md': '@./3.md @1.md',
    'above/project/x/3.md': '@4.md',
    'above/project/x/4.md': '@5.md',
    'above/project/x/5.md': 'too deep',
    'above/project/second.md': 'text',
  });
  expect(paths).toEqual(['CLAUDE.md', 'x/1.md', 'x/2.md', 'x/3.md', 'x/4.md', 'second.md']);
  expect(ignored).toEqual({ 'x/5.md': 'its import is nested more than 4 levels deep' });
});

test('a file of the project imports nothing from outside, unless the repository is trusted; the user imports anything', () => {
  const files = {
    'home/.claude/CLAUDE.md': '@~/mine.md',
    'home/mine.md': 'of the user',
    'home/secret.md': 'secret',
    'above/other.md': 'other',
    'above/project/CLAUDE.md': '@../other.md @~/secret.md @inside.md',
    'above/project/inside.md': 'inside',
  };
  const { paths, ignored } = read(files);
  expect(paths).toEqual(['home/.claude/CLAUDE.md', 'home/mine.md', 'CLAUDE.md', 'inside.md']);
  expect(Object.keys(ignored)).toEqual(['above/other.md', 'home/secret.md']);
  expect(ignored['home/secret.md']).toMatch(
    /^it is outside of .*above\/project; .* mcp approve --trust-repository$/,
  );
  expect(read(files, { isTrusted: () => true }).paths).toContain('above/other.md');
});

test('a folder of a repository may import files from the whole repository', () => {
  const place = memoryPlace({ 'above/project/CLAUDE.md': '@../docs.md', 'above/docs.md': 'docs' });
  const options = { ...place.options, root: place.at('above') };
  expect(new MemoryReader(options).readStart().files.map(({ text }) => text)).toEqual([
    '@../docs.md',
    'docs',
  ]);
});

test('a symbolic link does not lead out of the project', () => {
  const place = memoryPlace({
    'home/secret.md': 'secret',
    'above/project/AGENTS.md': 'real file',
    'above/project/x/a.md': 'text',
  });
  symlinkSync('AGENTS.md', place.at('above/project/CLAUDE.md'));
  symlinkSync(place.at('home/secret.md'), place.at('above/project/CLAUDE.local.md'));
  symlinkSync(place.at('home'), place.at('above/project/x/out'));
  place.write('above/project/.claude/CLAUDE.md', '@../x/out/secret.md @../AGENTS.md');
  const { paths, ignored, set } = readIn(place);
  expect(paths).toEqual(['CLAUDE.md', '.claude/CLAUDE.md']);
  expect(set.files[0]?.text).toBe('real file');
  expect(Object.keys(ignored)).toEqual(['x/out/secret.md', 'CLAUDE.local.md']);
});

test('a memory file that is a link is not read if a deny rule forbids reading its target', () => {
  const place = memoryPlace(
    { 'above/project/.env': 'SECRET=1', 'above/project/CLAUDE.md': 'text' },
    { mayRead: (path) => !/(?:\.env|project\/CLAUDE\.md)$/.test(path) },
  );
  place.write('above/project/.claude/rules/a.md', 'rule');
  symlinkSync('../.env', place.at('above/project/.claude/CLAUDE.md'));
  const { paths, ignored } = readIn(place);
  // A rule about the file itself does not apply: the user configured that memory files are read.
  expect(paths).toEqual(['CLAUDE.md', '.claude/rules/a.md']);
  expect(ignored['.claude/CLAUDE.md']).toMatch(/deny rule/);
});

test.each<[name: string, more: Partial<MemoryOptions>, reason: RegExp]>([
  ['.git/config', {}, /in a \.git directory/],
  ['logo.png', {}, /not a text file/],
  ['.env', { mayRead: (path) => !path.endsWith('.env') }, /deny rule/],
  ['big.md', {}, /larger than 0.25 MiB/],
])('an import of %s is ignored', (name, more, reason) => {
  const { paths, ignored } = read(
    {
      'above/project/CLAUDE.md': `@${name}`,
      [`above/project/${name}`]: name === 'big.md' ? 'x'.repeat(2 ** 18 + 1) : 'text',
    },
    more,
  );
  expect(paths).toEqual(['CLAUDE.md']);
  expect(ignored[name]).toMatch(reason);
});

test('the number of files and their total length are limited', () => {
  const files = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [
      `above/project/.claude/rules/${1000 + at}.md`,
      'x'.repeat(5_000),
    ]),
  );
  const { set, ignored } = read(files);
  expect(set.files).toHaveLength(40);
  expect(Object.values(ignored)).toContain('only the first 100 files of this folder are read');
  expect(Object.values(ignored)).toContain('the memory files have more than 200000 characters in total');
});

test.each([
  ['**/.claude/rules/**', '.claude/rules/a/x.md'],
  ['**/*.local.md', 'above/CLAUDE.local.md'],
  ['~/.claude/CLAUDE.md', 'home/.claude/CLAUDE.md'],
])('a file that "claudeMdExcludes" names is left out: %s', (pattern, left) => {
  const { paths, ignored } = read(EVERYWHERE, { excludes: [pattern] });
  expect(paths).not.toContain(left);
  expect(ignored[left]).toBe('"claudeMdExcludes" excludes it');
  expect(paths).toContain('above/CLAUDE.md');
});

test('an excluded absolute path is left out, and AGENTS.md beside it is not read instead', () => {
  const place = memoryPlace({
    'above/CLAUDE.md': 'x',
    'above/AGENTS.md': 'x',
    'above/project/CLAUDE.md': 'x',
  });
  const options = { ...place.options, excludes: [place.at('above/CLAUDE.md')] };
  expect(new MemoryReader(options).readStart().files.map(({ path }) => place.label(path))).toEqual([
    'CLAUDE.md',
  ]);
});

test('the beginning of the index of the first auto-memory folder that has one is read, whatever the sources', () => {
  const place = memoryPlace({
    'home/other/MEMORY.md': `${'line\n'.repeat(300)}`,
    'home/more/MEMORY.md': 'not read',
    'home/other/topic.md': 'on demand',
  });
  const autoFolders = ['none', 'other', 'more'].map((it) => place.at(`home/${it}`));
  const { files } = new MemoryReader({ ...place.options, scopes: [], autoFolders }).readStart();
  expect(files.map(({ path, scope }) => [place.label(path), scope])).toEqual([
    ['home/other/MEMORY.md', 'auto'],
  ]);
  expect(files[0]?.text.split('\n')).toHaveLength(200);
});

test('rules for paths are not sent at the start, and match from the directory of their .claude folder', () => {
  const { set, place, paths } = read({
    'above/project/.claude/rules/any.md': '---\npaths: "*.css, lib/**/*.{ts,tsx}"\n---\nrule',
    'above/project/.claude/rules/all.md': 'always',
  });
  expect(paths).toEqual(['.claude/rules/all.md']);
  const applies = (path: string) => rulesFor(set.rules, place.at(path), place.options.userHome).length > 0;
  expect(
    ['a.css', 'x/y/a.css', 'lib/a/b.ts', 'lib/b.tsx'].map((it) => applies(`above/project/${it}`)),
  ).toEqual([true, true, true, true]);
  expect(['above/project/a.ts', 'above/project/x/lib/a.ts', 'above/a.css'].map(applies)).toEqual([
    false,
    false,
    false,
  ]);
});
