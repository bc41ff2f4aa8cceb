import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesWildcard } from '../../src/base/wildcard.ts';

test.each([
  ['', '', true],
  ['', 'a', false],
  ['a', 'a', true],
  ['*', '', true],
  ['*', 'a\nb', true],
  ['a*', 'ab', true],
  ['*b', 'ab', true],
  ['a*a', 'a', false],
  ['a*b*c', 'a-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['*ab*ab', 'xab', false],
  ['*aab*', 'aaab', true],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['a\\b*', 'a\\bc', true],
  ['a.c', 'abc', false],
])('%j and %j: %s', (pattern, text, expected) => {
  expect(matchesWildcard(pattern, text)).toBe(expected);
});

test('agrees with the definition of a wildcard', () => {
  const few = (characters: string) => fc.array(fc.constantFrom(...characters), { maxLength: 12 });
  fc.assert(
    fc.property(few('ab*'), few('ab'), (pattern, text) => {
      expect(matchesWildcard(pattern.join(''), text.join(''))).toBe(byDefinition(pattern, text));
    }),
    { numRuns: 5000 },
  );
});

describe('patterns that make a regular expression backtrack are decided in linear time', () => {
  const size = 1_000_000;
  test.each([
    ['many stars', `${'*a'.repeat(50_000)}b`, 'a'.repeat(size)],
    ['a literal whose end repeats', `*b${'a'.repeat(50_000)}*`, 'a'.repeat(size)],
    ['a literal whose beginning repeats', `*${'a'.repeat(50_000)}b*`, 'a'.repeat(size)],
    ['literals that almost match', `*${'ab'.repeat(25_000)}c*`, 'ab'.repeat(size / 2)],
  ])('%s', (_, pattern, text) => {
    expect(matchesWildcard(pattern, text)).toBe(false);
    expect(matchesWildcard(pattern, `${text}${pattern.replaceAll('*', '')}`)).toBe(true);
  });
});

function byDefinition([head, ...pattern]: readonly string[], text: readonly string[]): boolean {
  if (head === undefined) return text.length === 0;
  if (head !== '*') return head === text[0] && byDefinition(pattern, text.slice(1));
  return byDefinition(pattern, text) || (text.length > 0 && byDefinition([head, ...pattern], text.slice(1)));
}
