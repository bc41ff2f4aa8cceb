import { expect, test } from 'vitest';
import { NOTHING_USED } from '../../../src/cli/chat/totals.ts';
import { usageText } from '../../../src/cli/chat/usage-text.ts';
import { text } from './text.ts';

test('tokens, turns, money and the context, as far as they are known', () => {
  const totals = {
    prompts: 2,
    turns: 5,
    inputTokens: 12345,
    cachedTokens: 12000,
    outputTokens: 67,
    usd: 0.0123,
  };
  expect(text(usageText(totals, { totalTokens: 50_000, maxTokens: 200_000 }))).toEqual([
    '  tokens   12,345 in (12,000 from the cache), 67 out',
    '  turns    5 for 2 prompts',
    '  money    $0.0123',
    '  context  50,000 of 200,000 tokens (25 %)',
  ]);
  expect(text(usageText({ ...NOTHING_USED, prompts: 1, turns: 1 }, undefined))).toEqual([
    '  tokens   0 in, 0 out',
    '  turns    1 for 1 prompt',
    '  money    not known for this model',
  ]);
});
