import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../../src/mcp/transports/http/retry-after.ts';

const NOW = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

test.each([
  ['2', 2000],
  [' 0 ', 0],
  ['Wed, 21 Oct 2026 07:28:05 GMT', 5000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s is %s ms', (value, ms) => {
  expect(retryAfterMs(value, NOW)).toBe(ms);
});

test('a date says nothing to who does not know the time', () => {
  expect(retryAfterMs('Wed, 21 Oct 2026 07:28:05 GMT', Number.NaN)).toBeUndefined();
  expect(retryAfterMs('2', Number.NaN)).toBe(2000);
});
