import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesPath } from '../../src/permissions/path.ts';
import { WORKSPACE } from './situation.ts';

test('patterns agree with their definition', () => {
  const segments = (...names: string[]) =>
    fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      segments('a', 'ab', '*', '**', 'a*', '*b', '?', 'a**b', '*a*'),
      segments('a', 'ab', 'b', 'ba', 'aab'),
      (pattern, path) => {
        const matches = matchesPath(`//${pattern.join('/')}`, `/${path.join('/')}`, WORKSPACE);
        expect(matches).toBe(isBelowMatch(pattern, path));
      },
    ),
    { numRuns: 5000 },
  );
});

test.each([
  ['many stars in one name', `//${'*a'.repeat(500)}b`, `/${'a'.repeat(4000)}`],
  ['many stars across directories', `//${'**/a/'.repeat(200)}b`, `/${'a/'.repeat(2000)}c`],
  ['a name at any depth', `*${'a*'.repeat(500)}b`, `/w/${'a'.repeat(4000)}`],
])('a pattern that makes a regular expression backtrack: %s', (_, pattern, path) => {
  expect(matchesPath(pattern, path, WORKSPACE)).toBe(false);
});

/** What is below a match matches too; `**` at the end is at least one name. */
function isBelowMatch(pattern: readonly string[], path: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return true;
  if (head === '**' && rest.length === 0) return path.length > 0;
  if (head === '**' && isBelowMatch(rest, path)) return true;
  const [name, ...below] = path;
  if (name === undefined) return false;
  if (head === '**') return isBelowMatch(pattern, below);
  return matchesName(head, name) && isBelowMatch(rest, below);
}

function matchesName(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  if (pattern.startsWith('*')) {
    return matchesName(pattern.slice(1), name) || (name !== '' && matchesName(pattern, name.slice(1)));
  }
  const isSame = name !== '' && (pattern.startsWith('?') || pattern[0] === name[0]);
  return isSame && matchesName(pattern.slice(1), name.slice(1));
}
