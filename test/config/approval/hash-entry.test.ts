import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashEntry } from '../../../src/config/approval/hash-entry.ts';

test('the order of members means nothing, that of lists does', () => {
  expect(hashEntry({ a: 1, b: { c: 2, d: 3 } })).toBe(hashEntry({ b: { d: 3, c: 2 }, a: 1 }));
  expect(hashEntry({ args: ['a', 'b'] })).not.toBe(hashEntry({ args: ['b', 'a'] }));
  expect(hashEntry({ type: ['a', 'b'] })).not.toBe(hashEntry({ type: ['b', 'a'] }));
});

test.each([
  ['a number and its text', { timeout: 1 }, { timeout: '1' }],
  ['a member and none', { a: null }, {}],
  ['an object and a list', {}, []],
  ['an object and the pairs of it', { a: 1 }, { members: [['a', 1]] }],
  ['a member called __proto__', JSON.parse('{"__proto__":{"command":"x"}}'), {}],
])('%s differ', (_, one, other) => {
  expect(hashEntry(one)).not.toBe(hashEntry(other));
});

test('equal hashes mean equal JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const isSame = hashEntry(one) === hashEntry(other);
      expect(isSame).toBe(JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)));
    }),
  );
});

test('what is nested too deeply has no hash, and is no crash', () => {
  let deep: unknown = 1;
  for (let n = 0; n < 200_000; n++) deep = [deep];
  expect(hashEntry(deep)).toBeUndefined();
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // Not the list itself: an empty object is no empty list.
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, it]) => ({ name, it: sorted(it) }));
  return { members };
}
