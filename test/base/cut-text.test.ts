import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from '../../src/base/cut-text.ts';

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab😀', 3, 'ab'],
  ['ab😀c', 4, 'ab😀'],
  ['', 0, ''],
])('%s to %i', (text, most, cut) => {
  expect(cutText(text, most)).toBe(cut);
});

test('what was well-formed stays so, and nothing more is cut than has to be', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, most) => {
      const cut = cutText(text, most);
      expect(cut.isWellFormed()).toBe(true);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, most) - 1);
    }),
  );
});
