import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from '../../../src/cli/flags/flag-values.ts';

test.each([
  ['', 'the text is empty'],
  ['{"a": "sec', 'line 1, column 7'],
  ['{"a": tru', 'line 1, column 7'],
  ['{"a": -', 'line 1, column 7'],
  ['{"a": secret}', 'line 1, column 7'],
  ["{'a': 1}", 'line 1, column 2'],
  ['{"a": 1,}', 'comments and trailing commas are not allowed'],
  ['{\n  "a": 1\n  "b": 2}', 'line 3, column 3'],
  ['{\r\n"a" 1}', 'line 2, column 5'],
  ['{"a": "x\ny"}', 'line 1, column 7'],
  ['{"a": "\\x"}', 'line 1, column 8'],
  ['{} // done', 'comments and trailing commas are not allowed'],
  ['[1, 2}', 'line 1, column 6'],
  ['[01]', 'line 1, column 2'],
])('%j: %s, and no part of the text is quoted', (text, fault) => {
  expect(jsonFault(text)).toMatch(new RegExp(`^${fault}`));
  expect(jsonFault(text)).not.toContain('secret');
});

test.each(['{"a": 1}', ' [1, -2.5e+3, "a\\u00e9\\"", true, null, {}, []] \n'])('%j is valid', (text) => {
  expect(jsonFault(text)).toBeUndefined();
});

test('agrees with JSON.parse on what is valid', () => {
  const text = fc.oneof(
    fc.json(),
    fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([json, at, put]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + put + json.slice(place + 1);
    }),
    fc
      .array(fc.constantFrom(...'{}[]:,"\\ue1-0.+ ntrul\n'.split('')), { maxLength: 12 })
      .map((it) => it.join('')),
  );
  fc.assert(
    fc.property(text, (it) => {
      expect(jsonFault(it) === undefined, it).toBe(isJson(it));
    }),
    { numRuns: 3000 },
  );
});

test('a text that is nested too deeply is refused', () => {
  expect(jsonFault('['.repeat(500_000))).toMatch(/^line 1, column 201: /);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
