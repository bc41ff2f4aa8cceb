import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitText } from '../../../src/agent/results/split-text.ts';

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

test('the parts are the text, none is too long, and no character is torn', () => {
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
