import { describe, expect, test } from 'vitest';
import {
  boolean,
  type Check,
  callback,
  countFrom,
  describeValue,
  either,
  list,
  listOf,
  nonEmptyString,
  numberFrom,
  oneOf,
  optionFault,
  positiveNumber,
  record,
  string,
  stringList,
  stringMap,
} from '../../src/base/option-check.ts';

const ROWS: readonly (readonly [check: Check, what: string, good: unknown[], bad: unknown[]])[] = [
  [string, 'a string', ['', 'x'], [1, null, ['x']]],
  [boolean, 'true or false', [true, false], ['true', 0]],
  [callback, 'a function', [() => {}], [{}, 'f']],
  [record, 'an object', [{}, { a: 1 }], [null, [], 'x']],
  [stringList, 'a list of strings', [[], ['a', '']], ['a', [1], null]],
  [stringMap, 'an object whose values are strings', [{}, { a: 'b' }], [{ a: 1 }, { a: undefined }, []]],
  [numberFrom(0), 'a number, 0 or more', [0, 0.5], [-1, Number.NaN, Number.POSITIVE_INFINITY, '1']],
  [countFrom(1), 'a whole number, 1 or more', [1, 2], [0, 1.5, '1', Number.NaN]],
  [oneOf('a', 'b'), 'one of "a", "b"', ['a', 'b'], ['c', ['a'], undefined]],
  [listOf(['a', 'b']), 'a list, each one of "a", "b"', [[], ['b', 'a']], ['a', ['c']]],
  [either(string, stringList), 'a string, or a list of strings', ['a', ['a']], [1, [1]]],
  [list, 'a list', [[], [1]], [{}, 'a', null]],
  [nonEmptyString, 'a non-empty string', ['a'], ['', 1]],
  [positiveNumber, 'a number above 0', [0.5, Number.POSITIVE_INFINITY], [0, -1, Number.NaN, '1']],
];

test.each(ROWS)('$what', (check, what, good, bad) => {
  const holds = (value: unknown) => check.holds(value);
  expect({ what: check.what, good: good.map(holds), bad: bad.map(holds) }).toEqual({
    what,
    good: good.map(() => true),
    bad: bad.map(() => false),
  });
});

describe('optionFault', () => {
  test.each<[object, string | undefined]>([
    [{}, undefined],
    [{ name: 'a', size: 1 }, undefined],
    [{ name: undefined, other: undefined }, undefined],
    [{ nam: 'a' }, '"nam" is not an option; did you mean "name"?'],
    [{ toString: 1 }, '"toString" is not an option'],
    [{ size: 0 }, '"size" must be a number above 0; it is 0'],
  ])('%j: %s', (options, fault) => {
    expect(optionFault(options, { name: string, size: positiveNumber })).toBe(fault);
  });

  test('names the option as the caller asks', () => {
    expect(optionFault({ size: 'x' }, { size: positiveNumber }, (name) => `options.${name}`)).toBe(
      'options.size must be a number above 0; it is "x"',
    );
  });
});

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  ['x'.repeat(100), `"${'x'.repeat(60)}…"`],
  [[1, 'a'], 'a list of number, string'],
  [{ key: 'secret' }, 'an object { key: string }'],
  [() => {}, 'a function'],
])('describeValue(%o) is %s', (value, text) => {
  expect(describeValue(value)).toBe(text);
});
