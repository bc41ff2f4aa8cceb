import { expect, test } from 'vitest';
import { nearestToolName } from '../../../src/pool/search/search-pool.ts';

const KNOWN = ['Read', 'mcp__weather__alerts', 'mcp__weather__forecast', 'mcp__wether__x'];

test.each([
  ['mcp__weather__forcast', 'mcp__weather__forecast'],
  ['mcp__weather__rain', undefined],
  ['mcp__weathr__forecast', 'mcp__weather__forecast'],
  ['Reads', 'Read'],
  ['__', undefined],
  ['nothing like it', undefined],
])('%s', (name, meant) => {
  expect(nearestToolName(name, KNOWN)).toBe(meant);
});
