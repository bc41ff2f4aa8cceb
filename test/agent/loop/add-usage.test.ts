import { expect, test } from 'vitest';
import { addUsage, NO_USAGE } from '../../../src/agent/loop/add-usage.ts';

test.each([
  [
    { input_tokens: 1, output_tokens: 2 },
    { input_tokens: 3, output_tokens: 4 },
    { input_tokens: 4, output_tokens: 6 },
  ],
  [
    { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: null },
    { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 7 },
    { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: 7 },
  ],
  [
    { input_tokens: 1, output_tokens: 1, service_tier: 'a' },
    { input_tokens: 1, output_tokens: 1, service_tier: 'b', toString: 5 },
    { input_tokens: 2, output_tokens: 2, service_tier: 'a', toString: 5 },
  ],
])('%j and %j', (a, b, sum) => {
  expect(addUsage(a as never, b as never)).toEqual(sum);
});

test('nothing changes what is added', () => {
  expect(addUsage(NO_USAGE, NO_USAGE)).toEqual(NO_USAGE);
  expect(Object.isFrozen(NO_USAGE)).toBe(true);
});
