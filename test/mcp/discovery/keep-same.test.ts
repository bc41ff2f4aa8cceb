import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keepSame } from '../../../src/mcp/discovery/keep-same.ts';

const tool = (name: string, description = 'x') => ({ name, description, inputSchema: { type: 'object' } });

test('a list of equals is the list there was', () => {
  const before = [tool('a'), tool('b')];
  expect(keepSame(before, [tool('a'), tool('b')])).toBe(before);
  const turned = { inputSchema: { type: 'object' }, description: 'x', name: 'a' };
  expect(keepSame(before, [turned, tool('b')])).toBe(before);
});

test.each([
  ['changed', [tool('a', 'y'), tool('b')], [false, true]],
  ['new', [tool('a'), tool('b'), tool('c')], [true, true, false]],
  ['gone', [tool('b')], [true]],
  ['in another order', [tool('b'), tool('a')], [true, true]],
])('one that is %s makes another list of the same objects', (_, after, same) => {
  const before = [tool('a'), tool('b')];
  const kept = keepSame(before, after);
  expect(kept).not.toBe(before);
  expect(kept).toEqual(after);
  expect(kept.map((it) => before.includes(it))).toEqual(same);
});

test('names of prototypes are names', () => {
  const before = [tool('__proto__'), tool('constructor')];
  expect(keepSame(before, [tool('__proto__'), tool('constructor')])).toBe(before);
});

test('equal is what JSON calls equal, whatever the values are', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(null, {}, [], { a: 1 }, { a: 2 }, [1], 0),
  );
  fc.assert(
    fc.property(value, value, (a, b) => {
      const before = [{ name: 'x', value: a }];
      const isSame = keepSame(before, [{ name: 'x', value: b }]) === before;
      expect(isSame).toBe(isDeepStrictEqual(a, b));
      expect(keepSame(before, structuredClone(before))).toBe(before);
    }),
    { numRuns: 500 },
  );
});
