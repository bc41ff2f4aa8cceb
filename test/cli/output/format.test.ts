import { expect, test } from 'vitest';
import { formatCount, pluralize } from '../../../src/base/text/display-text.ts';
import { formatBytes, formatPercent } from '../../../src/cli/output/format.ts';

test.each([
  [formatCount(1234567), '1,234,567'],
  [pluralize(1, 'tool'), '1 tool'],
  [pluralize(0, 'tool'), '0 tools'],
  [pluralize(1200, 'tool'), '1,200 tools'],
  [formatPercent(15_000, 200_000), '7.5 %'],
  [formatBytes(1), '1 byte'],
  [formatBytes(999), '999 bytes'],
  [formatBytes(1500), '1.5 kB'],
  [formatBytes(2_340_000), '2.3 MB'],
])('%s is %s', (said, text) => {
  expect(said).toBe(text);
});
