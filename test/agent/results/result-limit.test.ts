import fc from 'fast-check';
import { expect, test } from 'vitest';
import { headOf, resultLimit, tailOf } from '../../../src/agent/results/result-limit.ts';
import { estimateTextTokens } from '../../../src/base/text/display-text.ts';

const tokens = { max: 25_000, unit: 'tokens' };

test.each([
  [undefined, tokens],
  [{}, tokens],
  [{ 'anthropic/maxResultSizeChars': 400_000 }, { max: 400_000, unit: 'characters' }],
  [{ 'anthropic/maxResultSizeChars': 4_000_000 }, { max: 500_000, unit: 'characters' }],
  [{ 'anthropic/maxResultSizeChars': 10 }, { max: 10, unit: 'characters' }],
  [{ 'anthropic/maxResultSizeChars': '400000' }, tokens],
  [{ 'anthropic/maxResultSizeChars': -1 }, tokens],
  [{ 'anthropic/maxResultSizeChars': null }, tokens],
])('a tool with %j may give %j', (meta, limit) => {
  expect(resultLimit(meta, 25_000)).toEqual(limit);
});

test.each([
  ['héllo', 1, 'tokens', 'hél', 'llo'],
  ['日本語', 1, 'tokens', '日', '語'],
  ['a😀b😀', 3, 'characters', 'a😀', 'b😀'],
  ['a😀b😀', 2, 'characters', 'a', '😀'],
  ['abc', 0, 'tokens', '', ''],
] as const)('%j: %d %s of it begin with %j and end with %j', (text, size, unit, head, tail) => {
  expect([headOf(text, size, unit), tailOf(text, size, unit)]).toEqual([head, tail]);
});

test('heads and tails are parts of the text, in whole characters, within the size', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(20), (text, size) => {
      for (const part of [headOf(text, size, 'tokens'), tailOf(text, size, 'tokens')]) {
        expect(text).toContain(part);
        expect(part.isWellFormed()).toBe(true);
        expect(estimateTextTokens(part)).toBeLessThanOrEqual(size);
      }
      expect(text.startsWith(headOf(text, size, 'tokens'))).toBe(true);
      expect(text.endsWith(tailOf(text, size, 'tokens'))).toBe(true);
    }),
  );
});
