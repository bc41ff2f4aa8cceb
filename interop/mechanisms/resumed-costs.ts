import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('Agent', {
    description: 'find it',
    prompt: 'Where is it?',
    subagent_type: 'finder',
    run_in_background: false,
  }),
  text('It is here.'),
  text('Found.'),
  text('Again.'),
  text('And again.'),
];

/** The costs of a resumed or forked session include those of its earlier replies and sub-agents. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  let session = '';
  const ask = async (prompt: string, more: { resume?: string; forkSession?: boolean } = {}) => {
    const query = sdk.query({
      prompt,
      options: {
        ...options(sandbox),
        env: { ...sandbox.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
        tools: ['Agent'],
        allowedTools: ['Agent'],
        agents: { finder: { description: 'Finds things', prompt: 'You find things.', model: 'haiku' } },
        ...more,
      },
    });
    for await (const message of query) {
      if (message.type !== 'result') continue;
      session = message.session_id;
      const models = Object.entries(message.modelUsage);
      seen.push({
        cost: message.total_cost_usd.toFixed(12),
        models: models.map(([model, it]) => [model, it.inputTokens, it.outputTokens, it.costUSD.toFixed(12)]),
      });
    }
  };
  await ask('Find it.');
  await ask('Again.', { resume: session });
  await ask('And again.', { resume: session, forkSession: true });
  return seen;
}
