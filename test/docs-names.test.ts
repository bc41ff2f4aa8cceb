import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (patterns: readonly string[]) =>
  globSync(patterns as string[], { cwd: ROOT }).map((file) => ({
    file,
    text: readFileSync(`${ROOT}${file}`, 'utf8'),
  }));

/** What people are told. */
const PAGES = read(['README.md', 'docs/*.md']);
/** What is tried: tests, what they run, and the examples, which a test runs. */
const TRIED = read([
  'test/**/*.{ts,mjs}',
  'interop/*.ts',
  'interop/wire/**/*.ts',
  'examples/*.ts',
  'scripts/docs/explain-set-ups.ts',
])
  .filter(({ file }) => !file.endsWith('docs-names.test.ts'))
  .map(({ text }) => text)
  .join('\n');

/** A flag as it is typed. */
const FLAG = /(?<![\w-])--[a-zA-Z][a-zA-Z-]+(?![\w-])/g;
/** A file that configuration or another program keeps, by its name. */
const FILE = /(?<![\w/-])\.?[\w-]+(?:\.[\w-]+)*\.(?:json|jsonl|toml|gitignore)(?!\w)/g;

/** Of other programs, or made up for an example: naming them promises nothing of ours. */
const OTHERS = new Set(['package.json', 'package-lock.json', 'tsconfig.json']);

test.each([
  ['flag', FLAG],
  ['file', FILE],
])('every %s that the docs name is used by a test', (_, pattern) => {
  const unused = PAGES.flatMap(({ file, text }) =>
    [...new Set(text.match(pattern) ?? [])]
      .filter((name) => !OTHERS.has(name) && !isTried(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(unused).toEqual([]);
});

function isTried(name: string): boolean {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w-])${literal}(?![\\w-])`).test(TRIED);
}
