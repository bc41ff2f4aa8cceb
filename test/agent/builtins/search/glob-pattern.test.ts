import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GlobPattern, parseGlob } from '../../../../src/agent/builtins/search/glob-pattern.ts';

function glob(pattern: string): GlobPattern {
  const parsed = parseGlob(pattern);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

test.each<[string, string[], string[]]>([
  ['*.ts', ['a.ts', '.ts', '.hidden.ts'], ['a.tsx', 'd/a.ts', 'ats']],
  ['**/*.ts', ['a.ts', 'd/a.ts', 'd/e/a.ts'], ['a.js', 'a.ts/b']],
  ['src/**', ['src/a', 'src/d/a'], ['a', 'x/src/a']],
  [
    'src/**/test/*.ts',
    ['src/test/a.ts', 'src/a/b/test/a.ts', 'src/test/x/test/a.ts'],
    ['src/test/x/a.ts', 'test/a.ts'],
  ],
  ['a?c', ['abc', 'a😀c'], ['ac', 'abbc', 'a/c']],
  ['[a-c][!x]', ['ay', 'bc'], ['ax', 'dy', 'a']],
  ['[]]', [']'], ['[', 'a']],
  ['*.{ts,js{,x}}', ['a.ts', 'a.js', 'a.jsx'], ['a.tsx', 'a.{ts']],
  ['{a}{', ['{a}{'], ['a']],
  ['\\*\\{a,b}', ['*{a,b}'], ['x{a,b}', '*a']],
  ['./d//a', ['d/a'], ['a']],
  ['a.b(c)+$', ['a.b(c)+$'], ['axb(c)+$', 'a.bcc']],
])('%s', (pattern, matching, others) => {
  const { matches } = glob(pattern);
  expect([...matching, ...others].filter((path) => matches(path.split('/')))).toEqual(matching);
});

test.each<[string, string]>([
  ['../x', '".." is not allowed'],
  ['a/{..,b}/c', '".." is not allowed'],
  ['./', 'it is empty'],
  ['{a,b}'.repeat(9), 'the pattern has more than 256 alternatives in braces'],
  ['{'.repeat(1001), 'the pattern is longer than 1000 characters'],
])('%s is rejected', (pattern, fault) => {
  expect(parseGlob(pattern)).toBe(fault);
});

test.each<[string, string, boolean]>([
  ['src/**/*.ts', 'src', true],
  ['src/**/*.ts', 'src/deep/er', true],
  ['src/**/*.ts', 'test', false],
  ['*/a', 'x', true],
  ['*/a', 'x/a', false],
  ['*.ts', 'x', false],
])('%s: whether it reaches into %s is %s', (pattern, directory, expected) => {
  expect(glob(pattern).reachesInto(directory.split('/'))).toBe(expected);
});

test('reachesInto() holds for every directory above a matching path', () => {
  const segment = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 3 });
  const name = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      (pattern, path) => {
        const { matches, reachesInto } = glob(pattern.join('/'));
        fc.pre(matches(path));
        expect(path.slice(1).every((_, depth) => reachesInto(path.slice(0, depth + 1)))).toBe(true);
      },
    ),
  );
});

test('a pattern with many stars is matched in bounded time', () => {
  const started = performance.now();
  expect(glob(`${'*a'.repeat(60)}b`).matches(['a'.repeat(250)])).toBe(false);
  expect(glob(`${'**/a/'.repeat(60)}b`).matches(Array.from({ length: 250 }, () => 'a'))).toBe(false);
  expect(performance.now() - started).toBeLessThan(1000);
});
