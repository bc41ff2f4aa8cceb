import { expect, test } from 'vitest';
import { compactThreshold, shouldCompact, usedTokens } from '../../../src/agent/loop/compact-threshold.ts';
import { estimateTokens } from '../../../src/agent/loop/estimate-tokens.ts';
import { said } from './conversations.ts';

const limits = (contextTokens: number, outputTokens: number) => ({
  toolName: 64,
  contextTokens,
  outputTokens,
});

test.each([
  ['a large window without the reply', limits(200_000, 32_000), 151_200],
  ['a model whose reply may fill the window', limits(8_000, 8_000), 3_600],
])('the threshold of %s', (_, given, threshold) => {
  expect(compactThreshold(given)).toBe(threshold);
  expect(shouldCompact(threshold - 1, given)).toBe(false);
  expect(shouldCompact(threshold, given)).toBe(true);
});

test('what is used is what the model counted, cached or not, and what came since', () => {
  const usage = {
    input_tokens: 1,
    output_tokens: 20,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 4000,
  };
  const added = [said('hello')];
  expect(usedTokens(usage, added)).toBe(4321 + estimateTokens({ messages: added }));
  expect(usedTokens({ input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null }, [])).toBe(3);
});
