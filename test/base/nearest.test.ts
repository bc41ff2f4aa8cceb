import { expect, test } from 'vitest';
import { nearest } from '../../src/base/nearest.ts';

const KNOWN = ['allowedTools', 'disallowedTools', 'model', 'env', 'c', 'ab'];

test.each([
  ['allowedtool', 'allowedTools'],
  ['alowedTools', 'allowedTools'],
  ['models', 'model'],
  ['enf', 'env'],
  ['C', 'c'],
  ['a', undefined],
  ['ax', undefined],
  ['abc', 'ab'],
  ['frobnicate', undefined],
  ['', undefined],
])('%s is most likely %s', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});
