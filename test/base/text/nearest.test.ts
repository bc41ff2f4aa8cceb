import { expect, test } from 'vitest';
import { nearest } from '../../../src/base/text/nearest.ts';

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
])('the nearest name of %s is %s', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

test('transposed letters are recognized, also in a short word', () => {
  expect(nearest('hlep', ['quit', 'help'])).toBe('help');
  expect(nearest('Dcos', ['docs'])).toBe('docs');
  expect(nearest('ba', ['ab'])).toBeUndefined();
  expect(nearest('hxyp', ['help'])).toBeUndefined();
});
