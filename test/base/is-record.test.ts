import { expect, test } from 'vitest';
import { isRecord } from '../../src/base/is-record.ts';

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
