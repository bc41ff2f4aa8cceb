import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from '../../../src/cli/flags/json-flag.ts';

test.each([
  ['{"a": 1}', undefined],
  [' [1, -2.5e+3, "a\\u00e9\\"", true, null, {}, []] \n', undefined],
  ['', 'it ends too early'],
  ['{"a": "sec', 'it ends too early'],
  ['{"a": tru', 'it ends too early'],
  ['{"a": -', 'it ends too early'],
  ['{"a": secret}', 'see line 1, column 7'],
  ["{'a': 1}", 'see line 1, column 2'],
  ['{"a": 1,}', 'see line 1, column 9'],
  ['{\n  "a": 1\n  "b": 2}', 'see line 3, column 3'],
  ['{\r\n"a" 1}', 'see line 2, column 5'],
  ['{"a": "x\ny"}', 'see line 1, column 9'],
  ['{"a": "\\x"}', 'see line 1, column 9'],
  ['{} // done', 'see line 1, column 4'],
  ['[1, 2}', 'see line 1, column 6'],
  ['[01]', 'see line 1, column 3'],
])('%j: %s', (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});

test('it is JSON where the language says so, and told of where it does not', () => {
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

test('a text that is nested without end is no trouble', () => {
  expect(jsonFault('['.repeat(500_000))).toBe('it ends too early');
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
