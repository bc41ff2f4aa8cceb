import type { Options } from '@anthropic-ai/claude-agent-sdk';
import { text } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const MODELS = ['claude-sonnet-5', 'claude-fable-5', 'claude-haiku-4-5'];
const CASES: readonly Options[] = [
  {},
  { thinking: { type: 'adaptive' } },
  { thinking: { type: 'disabled' } },
  { thinking: { type: 'enabled', budgetTokens: 2000 } },
  { thinking: { type: 'adaptive', display: 'summarized' } },
];

export const script = () => text('Done.');

/** What the model is told about thinking, for a model that may think, one that always thinks, and one with a budget. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const sent: unknown[] = [];
  for (const model of MODELS) {
    for (const more of CASES) {
      const query = sdk.query({ prompt: 'Think.', options: { ...options(sandbox), model, ...more } });
      for await (const message of query) if (message.type === 'result') query.close();
      sent.push({ model, ...more, sent: sandbox.api.requests.at(-1)?.thinking });
    }
  }
  return sent;
}
