import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from '../../../src/host/result/indent-json.ts';

test.each([
  [
    '{"a":[1,{"b":"x,y"}],"c":{},"d":[ ]}',
    '{\n "a": [\n  1,\n  {\n   "b": "x,y"\n  }\n ],\n "c": {},\n "d": []\n}',
  ],
  ['{"big":12345678901234567890,"f":1.0,"f":2}', '{\n "big": 12345678901234567890,\n "f": 1.0,\n "f": 2\n}'],
  ['["\\\\","\\"]",""]', '[\n "\\\\",\n "\\"]",\n ""\n]'],
  ['[1,', '[1,'],
  ['12', '12'],
  ['no [JSON] at all', 'no [JSON] at all'],
])('%j becomes %j', (given, expected) => {
  expect(indentJson(given)).toBe(expected);
});

test('it is the same JSON, and nothing is lost when it is put together again', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const indented = indentJson(text);
      expect(JSON.parse(indented)).toEqual(JSON.parse(text));
      expect(JSON.stringify(JSON.parse(indented))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('deep nesting does not blow it up', () => {
  const deep = '['.repeat(5_000) + ']'.repeat(5_000);
  expect(indentJson(deep).length).toBeLessThan(deep.length * 30);
  const deepest = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
  expect(indentJson(deepest) === deepest).toBe(true);
});
