import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compilePattern,
  MAX_PATTERN_LENGTH,
  matchesWildcard,
  type PatternOptions,
} from '../../../src/base/text/patterns.ts';

describe('linear pattern', () => {
  function matches(source: string, text: string, options?: PatternOptions): string[] {
    const pattern = compilePattern(source, options);
    if (typeof pattern === 'string') throw new Error(pattern);
    return Array.from(pattern.matches(text), ({ start, end }) => text.slice(start, end));
  }

  test.each<[string, string, PatternOptions, string[]]>([
    ['a+', 'aab a', {}, ['aa', 'a']],
    ['(?:TODO|FIXME)\\b', 'TODO, TODOS, FIXME', {}, ['TODO', 'FIXME']],
    ['^b$', 'a\nb', {}, []],
    ['^b$', 'a\nb', { multiline: true }, ['b']],
    ['a.b', 'a\nb', { multiline: true }, ['a\nb']],
    ['todo', 'ToDo', { ignoreCase: true }, ['ToDo']],
    ['(?i)todo', 'ToDo', {}, ['ToDo']],
    ['\\u0041\\/[^\\]]', 'A/x', {}, ['A/x']],
    ['interface{}', 'interface{}', {}, ['interface{}']],
    ['(?<year>\\d{4})', '😀 2026', {}, ['2026']],
    ['\\\\k', 'a\\k', {}, ['\\k']],
  ])('%s in %j with %j', (source, text, options, expected) => {
    expect(matches(source, text, options)).toEqual(expected);
  });

  test.each([
    ['(?=a)b', 'lookahead and lookbehind are not supported'],
    ['(?<!a)b', 'lookahead and lookbehind are not supported'],
    ['(a)\\1', 'backreferences are not supported'],
    ['(?<n>a)\\k<n>', 'backreferences are not supported'],
    ['(', 'missing closing ): ('],
    ['*a', 'missing argument to repetition operator: *'],
    ['((a{100}){100}){100}', expect.stringContaining('invalid repeat count')],
    ['('.repeat(MAX_PATTERN_LENGTH + 1), 'the pattern is longer than 2000 characters'],
  ])('%s is rejected', (source, expected) => {
    expect(compilePattern(source)).toEqual(expected);
  });

  test.each([
    ['(a+)+$', 'a'],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
    ['(.*)*x', 'a'],
    [`${'.*a'.repeat(200)}b`, 'a'],
    ['(?:a|a)*b', 'a'],
    ['\\s+$', ' '],
  ])('%s is matched in linear time', (source, unit) => {
    expect(matches(source, `${unit.repeat(1_000_000)}!`)).toEqual([]);
  });

  test('expressions without lookaround match as in JavaScript', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      'a*',
      'b+?',
      '(a|b)',
      '(?:ab)?',
      '^',
      '$',
      '\\b',
    );
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.stringMatching(/^[ab c]{0,8}$/),
        (parts, text) => {
          const source = parts.join('');
          expect(matches(source, text)).toEqual(text.match(new RegExp(source, 'g')) ?? []);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('wildcard', () => {
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
    return (
      byDefinition(pattern, text) || (text.length > 0 && byDefinition([head, ...pattern], text.slice(1)))
    );
  }
});
