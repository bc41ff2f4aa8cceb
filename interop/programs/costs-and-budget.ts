import { text, toolUse, withUsage } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { describeError } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** The usage of each reply, with prompts of both price levels. */
export const script = [
  withUsage(text('one'), { input_tokens: 1000, output_tokens: 200 }),
  withUsage(text('two'), {
    input_tokens: 10,
    output_tokens: 200,
    cache_read_input_tokens: 120_000,
    cache_creation_input_tokens: 500,
    cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 },
  }),
  withUsage(text('three'), { input_tokens: 1000, output_tokens: 300 }),
  withUsage(toolUse('mcp__desk__note', {}), { input_tokens: 2000, output_tokens: 5000 }),
];

/**
 * Costs are cumulative; the budget ends a turn after the reply that exceeds it, and the next turn before its request. Whether
 * the call of that reply still runs is left out: the CLI starts calls while the reply arrives, our host does not.
 */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const note = sdk.tool('note', 'Note', {}, async () => ({ content: [] }));
  const desk = sdk.createSdkMcpServer({ name: 'desk', tools: [note] });
  const chat = converse();
  const query = sdk.query({
    prompt: chat,
    options: {
      ...options(sandbox),
      model: 'claude-haiku-5-5',
      mcpServers: { desk },
      allowedTools: ['mcp__desk'],
      maxBudgetUsd: 0.05,
    },
  });
  const models = ['claude-haiku-5-5', 'sonnet', 'sonnet', 'sonnet'];
  const seen: unknown[] = [];
  chat.say('one');
  try {
    for await (const message of query) {
      if (message.type === 'system' && message.subtype === 'init') seen.push(message.model);
      if (message.type === 'user' && 'isReplay' in message) seen.push(message.message.content);
      if (message.type !== 'result') continue;
      seen.push({
        subtype: message.subtype,
        reason: message.terminal_reason,
        stopped: message.stop_reason,
        errors: 'errors' in message ? message.errors : [],
        timings: ['ttft_ms', 'ttft_stream_ms', 'time_to_request_ms'].filter((name) => name in message),
        usage: Object.keys(message.usage).toSorted(),
        cost: rounded(message.total_cost_usd),
        models: Object.entries(message.modelUsage).map(([model, it]) => ({
          model,
          tokens: [it.inputTokens, it.outputTokens, it.cacheReadInputTokens, it.cacheCreationInputTokens],
          lifetimes: [it.cacheCreationEphemeral5mInputTokens, it.cacheCreationEphemeral1hInputTokens],
          cost: rounded(it.costUSD),
          limits: [it.contextWindow, it.maxOutputTokens],
          canonical: it.canonicalModel,
          basis: it.costBasis,
        })),
      });
      const next = models.shift();
      if (next === undefined) chat.end();
      else {
        await query.setModel(next);
        chat.say('next');
      }
    }
  } catch (error) {
    seen.push(describeError(error));
  }
  return { seen, asked: sandbox.api.requests.map((it) => it.model) };
}

/** The sums are those of the same products in another order. */
function rounded(usd: number): string {
  return usd.toFixed(12);
}
