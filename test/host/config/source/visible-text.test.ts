import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleText } from '../../../../src/host/config/source/visible-text.ts';

test.each([
  ['Größe 日本語 👩‍💻.json', 'Größe 日本語 👩‍💻.json'],
  ['a\u001b[31m\nb', 'a\\u001b[31m\\u000ab'],
  ['a\u202etxt.exe', 'a\\u202etxt.exe'],
])('%j is shown as %s', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('whatever a text is, it stays on one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visibleText(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
