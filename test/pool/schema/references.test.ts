import { expect, test } from 'vitest';
import { FreshNames } from '../../../src/pool/schema/references.ts';

test('each name is given once, and none that is taken', () => {
  const names = new FreshNames(['a', 'a_3', 'b_2']);
  const wanted = ['a', 'a', 'a', 'b', 'b', 'c/d', 'c d', '7', ''];
  expect(wanted.map((it) => names.next(it))).toEqual([
    ...['a_2', 'a_4', 'a_5', 'b', 'b_3', 'c_d', 'c_d_2', 'schema7', 'schema'],
  ]);
});

test('a name that another one counted up to is not given again', () => {
  const names = new FreshNames([]);
  expect(['a', 'a', 'a_2', 'a', 'a_2'].map((it) => names.next(it))).toEqual([
    ...['a', 'a_2', 'a_2_2', 'a_3', 'a_2_3'],
  ]);
});

test('the hundred thousandth of the same name takes no longer than the second', () => {
  const names = new FreshNames([]);
  for (let count = 1; count < 100_000; count++) names.next('a');
  expect(names.next('a')).toBe('a_100000');
});
