import { expect, test } from 'vitest';
import { MODEL_FIGURES, PRICES_DATE } from '../../../src/agent/models/model-figures.ts';
import { modelFigures, replyCost, UsageTotals } from '../../../src/agent/models/usage-totals.ts';
import type { Usage } from '../../../src/protocol/agent-message.ts';

const LIMITS = { toolName: 64, contextTokens: 200_000, outputTokens: 32_000 };
const usage = (more: Partial<Usage>): Usage => ({ input_tokens: 0, output_tokens: 0, ...more });

test('the table of figures has a date, and every price and limit is positive', () => {
  expect(PRICES_DATE).toMatch(/^\d{4}-\d\d-\d\d$/);
  for (const { long = {}, effort: _, thinking: __, ...figures } of Object.values(MODEL_FIGURES)) {
    expect(Object.values({ ...figures, ...long }).every((it) => it > 0)).toBe(true);
  }
});

test.each<[string, string | undefined]>([
  ['claude-sonnet-5', 'claude-sonnet-5'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-20250514', 'claude-sonnet-4-0'],
  ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet'],
  ['us.anthropic.claude-sonnet-5-v1:0', 'claude-sonnet-5'],
  ['anthropic/claude-sonnet-5', 'claude-sonnet-5'],
  ['anthropic:claude-sonnet-5', 'claude-sonnet-5'],
  ['claude-sonnet-5-1', undefined],
  ['claude-sonnet-5-mini', undefined],
  ['my-claude-sonnet-5', undefined],
  ['toString', undefined],
  ['gpt-5', undefined],
  ['', undefined],
])('the figures of %j are those of %s', (name, known) => {
  expect(modelFigures(name)).toBe(known === undefined ? undefined : MODEL_FIGURES[known]);
});

test.each<[string, string, Partial<Usage>, number | undefined]>([
  ['input and output', 'claude-sonnet-5', { input_tokens: 1e6, output_tokens: 1e5 }, 3],
  ['reads from the cache', 'claude-sonnet-5', { cache_read_input_tokens: 1e6 }, 0.2],
  ['writes to the cache', 'claude-sonnet-5', { cache_creation_input_tokens: 1e6 }, 2.5],
  [
    'writes with a lifetime of an hour',
    'claude-sonnet-5',
    { cache_creation_input_tokens: 1e6, cache_creation: { ephemeral_1h_input_tokens: 6e5 } },
    3.4,
  ],
  ['web searches', 'claude-sonnet-5', { server_tool_use: { web_search_requests: 3 } }, 0.03],
  ['a prompt of normal length', 'claude-haiku-5-5', { input_tokens: 1e5, output_tokens: 1e6 }, 0.51],
  [
    'a long prompt',
    'claude-haiku-5-5',
    { input_tokens: 5e4, cache_read_input_tokens: 5e4 + 1, output_tokens: 1e6 },
    2.52750005,
  ],
  ['an unknown model', 'gpt-5', { input_tokens: 1e6 }, undefined],
])('the cost of %s', (_, model, given, cost) => {
  const found = replyCost(model, usage(given));
  if (cost === undefined) expect(found).toBeUndefined();
  else expect(found).toBeCloseTo(cost, 10);
});

test('totals add up per model, and a model without prices makes the total unknown', () => {
  const totals = new UsageTotals();
  expect(totals.costUsd).toBe(0);
  totals.add('claude-sonnet-5', usage({ input_tokens: 1000, output_tokens: 100 }));
  totals.add('claude-sonnet-5', usage({ input_tokens: 1000, cache_read_input_tokens: 10 }));
  expect(totals.costUsd).toBeCloseTo(0.005002, 10);
  expect(totals.unpriced).toBeUndefined();
  totals.add('local', usage({ output_tokens: 1 }));
  expect(totals.costUsd).toBeUndefined();
  expect(totals.unpriced).toBe('local');
  expect(totals.report(LIMITS)).toEqual({
    'claude-sonnet-5': {
      inputTokens: 2000,
      outputTokens: 100,
      thinkingTokens: 0,
      cacheReadInputTokens: 10,
      cacheCreationInputTokens: 0,
      cacheCreationEphemeral5mInputTokens: 0,
      cacheCreationEphemeral1hInputTokens: 0,
      webSearchRequests: 0,
      costUSD: expect.closeTo(0.005002, 10),
      contextWindow: 1_000_000,
      maxOutputTokens: 64_000,
      canonicalModel: 'claude-sonnet-5',
      costBasis: 'list',
    },
    local: expect.objectContaining({ contextWindow: 200_000, maxOutputTokens: 32_000, costBasis: 'unknown' }),
  });
  expect(totals.report(LIMITS).local).not.toHaveProperty('costUSD');
  totals.clear();
  expect(totals.costUsd).toBe(0);
});
