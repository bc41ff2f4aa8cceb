import type { Options } from '@anthropic-ai/claude-agent-sdk';
import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const CASES: readonly Options[] = [
  { model: 'claude-sonnet-5' },
  { model: 'claude-sonnet-5', effort: 'low' },
  { model: 'claude-opus-5-5' },
  { model: 'claude-opus-5-5', effort: 'max' },
  { model: 'claude-haiku-4-5', effort: 'low' },
  { model: 'my-own-model', effort: 'xhigh' },
  { model: 'claude-sonnet-5', effort: 3 as never },
  { model: 'claude-sonnet-5', effort: 'lots' as never },
];

const delegate = toolUse('Task', { description: 'find it', prompt: 'Where is it?', subagent_type: 'finder' });
/** A sub-agent is started by the model that is not a sub-agent itself: it has the tool. */
export const script = (request: MessagesRequest) => {
  const isLead = JSON.stringify(request.messages).includes('Find it.');
  return isLead && toolResults(request).length === 0 ? delegate : text('Found.');
};

/** The effort of options, or the default of the model, is sent to the model and given to hooks; a sub-agent may have its own. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  for (const more of CASES) {
    const hooked: unknown[] = [];
    const before = sandbox.api.requests.length;
    const record = async (input: { hook_event_name: string; effort?: unknown }) => {
      hooked.push([input.hook_event_name, input.effort]);
      return {};
    };
    const events = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart', 'SubagentStop', 'Stop'];
    const query = sdk.query({
      prompt: 'Find it.',
      options: {
        ...options(sandbox),
        env: { ...sandbox.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
        tools: ['Task'],
        agents: { finder: { description: 'Finds things', prompt: 'You find things.', effort: 'medium' } },
        hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [record] }]])),
        stderr: () => {},
        ...more,
      },
    });
    for await (const message of query) if (message.type === 'result') query.close();
    const sent = sandbox.api.requests.slice(before).map(({ output_config }) => output_config?.effort);
    seen.push({ sent, hooked });
  }
  return seen;
}
