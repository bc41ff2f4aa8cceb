import { describe, expect, test } from 'vitest';
import { cutNesting, isEqualJson, isNestedDeeper, isRecord, MAX_NESTING } from '../../src/base/json-value.ts';

describe('is record', () => {
  test.each([
    [{}, true],
    [Object.create(null), true],
    [[], false],
    [null, false],
    [undefined, false],
    ['a', false],
    [() => {}, false],
  ])('%o is a record: %s', (value, expected) => {
    expect(isRecord(value)).toBe(expected);
  });
});

describe('nesting', () => {
  const list = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  const object = (levels: number): unknown =>
    JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);

  test.each([
    ['a number', 7, false],
    ['null', null, false],
    ['lists at the limit', list(MAX_NESTING), false],
    ['lists beyond it', list(MAX_NESTING + 1), true],
    ['objects at the limit', object(MAX_NESTING), false],
    ['objects beyond it', object(MAX_NESTING + 1), true],
    ['a deep member beside flat ones', { a: 1, b: [1, { c: list(MAX_NESTING) }], d: 2 }, true],
    ['a hundred thousand levels', list(100_000), true],
    ['many flat members', Array.from({ length: 10_000 }, (_, at) => ({ at })), false],
  ])('isNestedDeeper: %s', (_, value, expected) => {
    expect(isNestedDeeper(value)).toBe(expected);
  });

  test('cyclic data is nested too deeply', () => {
    const loop: Record<string, unknown> = {};
    loop.self = [loop];
    expect(isNestedDeeper(loop)).toBe(true);
  });

  test('cutNesting keeps what is not too deep', () => {
    expect(cutNesting({ a: [{ b: { c: 1 } }], d: 'x' }, 3)).toEqual({ a: [{ b: null }], d: 'x' });
    expect(isNestedDeeper(cutNesting({ a: list(100_000), b: object(20_000) }))).toBe(false);
  });
});

describe('equality', () => {
  test.each([
    { a: 1, b: 1, equal: true },
    { a: [1, { b: 2 }], b: [1, { b: 2 }], equal: true },
    { a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, equal: true },
    { a: { x: 1, y: undefined }, b: { x: 1 }, equal: true },
    { a: { x: 1 }, b: { x: 1, y: null }, equal: false },
    { a: [1, 2], b: [2, 1], equal: false },
    { a: [], b: {}, equal: false },
    { a: null, b: {}, equal: false },
    { a: JSON.parse('{"__proto__":1}'), b: {}, equal: false },
  ])('$a and $b: $equal', ({ a, b, equal }) => {
    expect(isEqualJson(a, b)).toBe(equal);
    expect(isEqualJson(b, a)).toBe(equal);
  });
});
