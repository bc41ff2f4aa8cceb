import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { indentJson, splitText } from '../../../src/agent/results/long-text.ts';

describe('indent json', () => {
  test.each([
    [
      '{"a":[1,{"b":"x,y"}],"c":{},"d":[ ]}',
      '{\n "a": [\n  1,\n  {\n   "b": "x,y"\n  }\n ],\n "c": {},\n "d": []\n}',
    ],
    [
      '{"big":12345678901234567890,"f":1.0,"f":2}',
      '{\n "big": 12345678901234567890,\n "f": 1.0,\n "f": 2\n}',
    ],
    ['["\\\\","\\"]",""]', '[\n "\\\\",\n "\\"]",\n ""\n]'],
    ['[1,', '[1,'],
    ['12', '12'],
    ['no [JSON] at all', 'no [JSON] at all'],
  ])('%j becomes %j', (given, expected) => {
    expect(indentJson(given)).toBe(expected);
  });

  test('indented JSON has the same value and the same tokens', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const indented = indentJson(text);
        expect(JSON.parse(indented)).toEqual(JSON.parse(text));
        expect(JSON.stringify(JSON.parse(indented))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test('the indentation is at most 24 spaces', () => {
    const indented = indentJson('['.repeat(30) + ']'.repeat(30));
    const blanks = indented.split('\n').map((line) => line.search(/\S/));
    const down = Array.from({ length: 29 }, (_, depth) => Math.min(depth, 24));
    expect(blanks).toEqual([...down, 24, ...down.toReversed()]);
  });

  test('JSON that would grow too much is returned unchanged', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const indented = indentJson(deep);
    expect(indented.length).toBeGreaterThan(deep.length * 20);
    expect(indented.length).toBeLessThan(deep.length * 30);
    const deeper = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(indentJson(deeper) === deeper).toBe(true);
  });

  test('a text that is too long is returned unchanged', () => {
    const long = JSON.stringify(Array.from({ length: 500_001 }, () => 1));
    expect(indentJson(long) === long).toBe(true);
    const shorter = `[${long.slice(5)}`;
    expect(indentJson(shorter).split('\n')).toHaveLength(500_001);
  });
});

describe('split text', () => {
  test.each([
    ['', 4, ['']],
    ['abcd', 4, ['abcd']],
    ['abcdef', 4, ['abcd', 'ef']],
    ['ab\ncdef', 4, ['ab\n', 'cdef']],
    ['abc😀d', 4, ['abc', '😀d']],
    ['\n\n\n', 2, ['\n\n', '\n']],
  ])('%j in parts of %d: %j', (text, longest, parts) => {
    expect(splitText(text, longest)).toEqual(parts);
  });

  test('the parts form the text, none is too long, and no character is split', () => {
    const texts = fc.array(fc.oneof(fc.constant('\n'), fc.string({ unit: 'grapheme' })));
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 9 }), (lines, longest) => {
        const text = lines.join('');
        const parts = splitText(text, longest);
        expect(parts.join('')).toBe(text);
        expect(parts.every((part) => part.length <= longest)).toBe(true);
        expect(parts.every((part) => part.isWellFormed())).toBe(true);
      }),
    );
  });
});
