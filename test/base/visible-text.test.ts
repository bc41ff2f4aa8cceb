import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleJson, visibleText } from '../../src/base/visible-text.ts';

test.each([
  ['Größe 日本語 👩‍💻.json', 'Größe 日本語 👩‍💻.json'],
  ['a\u001b[31m\nb', 'a\\u001b[31m\\u000ab'],
  ['a\u202etxt.exe', 'a\\u202etxt.exe'],
  ['a\u009b31mb\u061c\u200b\ufeffc', 'a\\u009b31mb\\u061c\\u200b\\ufeffc'],
  ['tag \u{e0041}', 'tag \\udb40\\udc41'],
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

test('JSON stays the same JSON, without an invisible character in it', () => {
  const odd = fc.constantFrom(
    '\u009b',
    '\u202e',
    '\u2066',
    '\u200d',
    '\u2028',
    '\u{e0001}',
    '\u061c',
    '\ufe0f',
    '\u001b',
  );
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.oneof(odd, fc.string()))).map(String);
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, fc.jsonValue())), (value) => {
      const json = JSON.stringify(value);
      const shown = visibleJson(json);
      expect(JSON.parse(shown)).toEqual(JSON.parse(json));
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
