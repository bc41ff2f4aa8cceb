import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainJson } from '../../src/tool-server/plain-json.ts';

test.each<[string, object, string]>([
  ['a map by names is an object', new Map([['a', 1]]), '{"a":1}'],
  [
    'a map by anything else is its entries',
    new Map<unknown, unknown>([
      [1, 'a'],
      ['b', 2],
    ]),
    '[[1,"a"],["b",2]]',
  ],
  ['an empty map is an empty object', new Map(), '{}'],
  ['a set is an array', new Set([1, 2]), '[1,2]'],
  [
    'inside other data',
    { users: new Map([['ada', new Set(['admin'])]]), none: {} },
    '{"users":{"ada":["admin"]},"none":{}}',
  ],
  ['an own toJSON comes first', { at: new Date(0), none: {} }, '{"at":"1970-01-01T00:00:00.000Z","none":{}}'],
])('%s', (_name, value, text) => {
  const plain = plainJson(value);
  expect(plain.text).toBe(text);
  expect(JSON.stringify(plain.data)).toBe(text);
});

test('data without maps and sets is left as it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.object(), fc.array(fc.jsonValue())), (value) => {
      expect(plainJson(value)).toEqual({ text: JSON.stringify(value), data: value });
      expect(plainJson(value).data).toBe(value);
    }),
  );
});

test('what JSON cannot say is thrown', () => {
  expect(() => plainJson({ n: 1n })).toThrow('BigInt');
  expect(() => plainJson(new Map([['n', 1n]]))).toThrow('BigInt');
});
