import { expect, test } from 'vitest';
import { counted, many, percent, sized } from '../../../src/cli/output/format.ts';

test.each([
  [counted(1234567), '1,234,567'],
  [many(1, 'tool'), '1 tool'],
  [many(0, 'tool'), '0 tools'],
  [many(1200, 'tool'), '1,200 tools'],
  [percent(15_000, 200_000), '7.5 %'],
  [sized(1), '1 byte'],
  [sized(999), '999 bytes'],
  [sized(1500), '1.5 kB'],
  [sized(2_340_000), '2.3 MB'],
])('%s is %s', (said, text) => {
  expect(said).toBe(text);
});
