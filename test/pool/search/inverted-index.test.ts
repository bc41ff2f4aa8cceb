import { expect, test } from 'vitest';
import { Vocabulary } from '../../../src/pool/search/inverted-index.ts';

test('a term keeps its number as long as a tool has it, then another may get it', () => {
  const vocabulary = new Vocabulary();
  const file = vocabulary.take('file');
  expect(vocabulary.take('file')).toBe(file);
  vocabulary.take('mail');
  vocabulary.release(file);
  expect(vocabulary.numberOf('file')).toBe(file);
  vocabulary.release(file);
  expect(vocabulary.numberOf('file')).toBeUndefined();
  expect(vocabulary.take('issue')).toBe(file);
  expect(vocabulary.counts()).toEqual([1, 1]);
});
