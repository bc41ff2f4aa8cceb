import { expect, test } from 'vitest';
import { OFFICIAL_EXPORTS, refused } from '../../src/sdk/official-exports.ts';

const stand = refused('importSessionToStore') as unknown as (() => void) &
  (new () => object) &
  Record<string, unknown>;
const REFUSAL = {
  code: 'unsupported-method',
  message: `importSessionToStore is not supported by toolplane: ${OFFICIAL_EXPORTS.importSessionToStore}`,
};

test.each<[string, () => unknown]>([
  ['calling', () => stand()],
  ['constructing', () => new stand()],
  ['reading a member', () => stand.length],
  ['spreading', () => ({ ...stand })],
  ['looking for a member', () => 'x' in stand],
  ['listing', () => Object.keys(stand)],
])('%s fails with its name and an alternative', (_, use) => {
  expect(use).toThrow(expect.objectContaining(REFUSAL));
});

test('importing it has no effect', () => {
  expect(typeof stand).toBe('function');
});
