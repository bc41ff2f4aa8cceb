import { expect, test } from 'vitest';
import { nearName } from '../../src/pool/near-name.ts';

const KNOWN = ['Read', 'mcp__weather__alerts', 'mcp__weather__forecast', 'mcp__wether__x'];

test.each([
  ['mcp__weather__forcast', 'mcp__weather__forecast'],
  ['mcp__weather__rain', undefined],
  ['mcp__weathr__forecast', 'mcp__weather__forecast'],
  ['Reads', 'Read'],
  ['__', undefined],
  ['nothing like it', undefined],
])('%s', (name, meant) => {
  expect(nearName(name, KNOWN)).toBe(meant);
});
