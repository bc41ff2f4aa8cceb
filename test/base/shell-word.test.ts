import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord, shellWords } from '../../src/base/shell-word.ts';

test.each([
  ['github', 'github'],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['x; rm -rf ~', "'x; rm -rf ~'"],
  ['$(touch x)', "'$(touch x)'"],
  ['--all', "'--all'"],
  ['', "''"],
  ['end\u001b[201~', "$'end\\u001b[201~'"],
  ["a'\nb\\", "$'a\\'\\u000ab\\\\'"],
  ['a\u202eb', "$'a\\u202eb'"],
])('%j is typed as %s', (word, typed) => {
  expect(shellWord(word)).toBe(typed);
});

test('a name that begins as a flag does stands after --', () => {
  expect(shellWords('github', '--json')).toBe("-- github '--json'");
  expect(shellWords('github', 'create_issue')).toBe('github create_issue');
});

test('a shell takes any word for what it is, and what is printed steers no terminal', () => {
  const words = fc.array(
    fc.string({ unit: 'binary', maxLength: 20 }).filter((it) => !it.includes('\0') && it.isWellFormed()),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(words, (all) => {
      const typed = all.map(shellWord).join(' ');
      expect(typed).not.toMatch(/\p{Cc}/u);
      const said = execFileSync('bash', ['--norc', '-c', `printf '%s\\0' ${typed}`], {
        encoding: 'utf8',
        env: { LC_ALL: 'C.UTF-8', PATH: process.env.PATH },
      });
      expect(said.split('\0').slice(0, -1)).toEqual(all);
    }),
    { numRuns: 50 },
  );
});
