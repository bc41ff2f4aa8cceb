import { expect, test } from 'vitest';
import { lastWords } from '../../src/base/last-words.ts';

test('the last five lines, each cut, in one', () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n} ${'x'.repeat(500)}`);
  const words = lastWords([...lines, '(exited with code 3)']);
  expect(words.split(' | ')).toHaveLength(5);
  expect(words.length).toBeLessThan(600);
  expect(words.endsWith('| (exited with code 3)')).toBe(true);
});
