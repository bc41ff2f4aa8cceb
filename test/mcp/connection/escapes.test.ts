import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replaceEscaped } from '../../../src/mcp/connection/escapes.ts';

const code = (it: string) => it.charCodeAt(0);
const ESCAPES: readonly ((it: string) => string)[] = [
  (it) => it,
  (it) => `\\u${code(it).toString(16).padStart(4, '0')}`,
  (it) => `\\u${code(it).toString(16).padStart(4, '0').toUpperCase()}`,
  (it) => `\\x${code(it).toString(16).padStart(2, '0')}`,
  (it) => `%${code(it).toString(16).padStart(2, '0')}`,
  (it) => `&#${code(it)};`,
  (it) => `&#x${code(it).toString(16)};`,
];

/** Printable ASCII without what is part of an escape. */
const letters = fc.string({
  unit: fc.constantFrom(..."abcXYZ0189 -_.:/+='<>()[]{}!?*~$@^|,"),
  minLength: 6,
  maxLength: 40,
});
const choices = fc.array(fc.constantFrom(...ESCAPES), { minLength: 40, maxLength: 40 });

describe('values are replaced however they are escaped', () => {
  test('each character in a way of its own, and nothing around them', () => {
    fc.assert(
      fc.property(letters, choices, (value, ways) => {
        const written = [...value].map((it, at) => ways[at]?.(it) ?? it).join('');
        const text = `\\u0041%42 <${written}> &amp;\\/`;
        fc.pre(written !== value && !'A B <> &/'.includes(value));
        expect(replaceEscaped(text, [value], '*')).toBe('\\u0041%42 <*> &amp;\\/');
      }),
    );
  });

  test('what is not a value stays as it is written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(replaceEscaped(text, ['k3y-that-is-nowhere'], '*')).toBe(text);
      }),
    );
  });

  test.each([
    ['values side by side', '%61bcdef%61bcdef', ['abcdef'], '**'],
    ['values that overlap', '%61bcdefgh', ['abcdef', 'cdefgh'], '*'],
    [
      'three times over',
      encodeURIComponent(encodeURIComponent(encodeURIComponent('a/bcdef'))),
      ['a/bcdef'],
      '*',
    ],
    ['characters of several bytes', '%c3%a9t%C3%A9-%F0%9F%98%80', ['été-😀'], '*'],
    ['an escape that is cut', 'abcde%6', ['abcdef'], 'abcde%6'],
  ])('%s', (_, text, values, expected) => {
    expect(replaceEscaped(text, values, '*')).toBe(expected);
  });
});
