import { expect, test } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import { calc, drive, kinds, resultOf, said, untilResult } from '../../support/drive.ts';

/** Usage that costs one cent. */
const CENT = { usage: { input_tokens: 5000, output_tokens: 0 } };
const PRICED = { modelName: 'claude-sonnet-5' };
const spent = (messages: readonly SDKMessage[]) => resultOf(messages) as unknown as Record<string, unknown>;

test('a result has the cost of the session and the figures of the model', async () => {
  const { query } = drive([{ ...text('hi'), ...CENT }], {}, PRICED);
  expect(spent(await untilResult(query))).toMatchObject({
    total_cost_usd: 0.01,
    ttft_ms: expect.any(Number),
    modelUsage: { 'claude-sonnet-5': { inputTokens: 5000, costUSD: 0.01, contextWindow: 1_000_000 } },
  });
});

test('the cost is absent if the price of a model is unknown', async () => {
  const { query } = drive([text('hi')]);
  const result = spent(await untilResult(query));
  expect(result).not.toHaveProperty('total_cost_usd');
  expect(result).toMatchObject({ modelUsage: { m: { costBasis: 'unknown' } } });
});

test('the budget ends a turn before tools are called, and later turns at once', async () => {
  async function* prompts() {
    yield said('one');
    yield said('two');
  }
  const calls = together(toolUse('mcp__calc__add', { a: 1, b: 2 }), toolUse('mcp__calc__boom', {}));
  const { query, model } = drive(
    [
      { ...calls, ...CENT },
      { ...calls, ...CENT },
    ],
    { prompt: prompts(), mcpServers: { calc: calc() }, allowedTools: ['mcp__calc'] },
    { ...PRICED, maxBudgetUsd: 0.02 },
  );
  const messages = await untilResult(query, 2);
  const [first, second] = messages.filter(({ type }) => type === 'result');
  expect(first).toMatchObject({
    subtype: 'error_max_budget_usd',
    is_error: true,
    terminal_reason: 'budget_exhausted',
    errors: ['Reached maximum budget ($0.02)'],
    total_cost_usd: 0.02,
    stop_reason: 'tool_use',
  });
  expect(second).toMatchObject({ subtype: 'error_max_budget_usd', stop_reason: null, num_turns: 1 });
  expect(model.requests).toHaveLength(2);
  // The calls of the first reply have results, those of the second do not.
  expect(kinds(messages).filter((kind) => kind === 'user')).toHaveLength(2);
});

test('a conversation that the budget ended can be continued: every call has a result', async () => {
  const { query, session } = drive(
    [{ ...toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1'), ...CENT }],
    { mcpServers: { calc: calc() } },
    { ...PRICED, maxBudgetUsd: 0.01 },
  );
  await untilResult(query);
  expect(session().conversation.messages.at(-1)).toMatchObject({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 't1', is_error: true }],
  });
});

test('a model without known prices ends the turn, because the budget cannot be checked', async () => {
  const { query } = drive([text('hi')], {}, { maxBudgetUsd: 1 });
  expect(spent(await untilResult(query))).toMatchObject({
    subtype: 'error_max_budget_usd',
    errors: [
      'The maximum budget ($1) cannot be checked: the prices of the model "m" are unknown; limit the number of model requests with maxTurns instead',
    ],
  });
});

test('earlier replies of a resumed conversation count toward the cost, but not toward the budget', async () => {
  const earlierReplies = [{ model: 'claude-sonnet-5', usage: { input_tokens: 5000, output_tokens: 0 } }];
  const { query } = drive(
    [{ ...text('hi'), ...CENT }],
    {},
    { ...PRICED, earlierReplies, maxBudgetUsd: 0.015 },
  );
  expect(spent(await untilResult(query))).toMatchObject({
    subtype: 'success',
    total_cost_usd: 0.02,
    modelUsage: { 'claude-sonnet-5': { inputTokens: 10_000 } },
  });
});
