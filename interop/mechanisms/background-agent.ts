import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';
import { taskMessages } from '../task-messages.ts';

/** The agent and the lead send their requests in any order. */
export const script = (request: MessagesRequest) => {
  const said = JSON.stringify(request.messages);
  if (said.includes('task-notification')) return text('The report is here.');
  if (!said.includes('Start it.')) return text('It is in the cellar.');
  if (said.includes('tool_result')) return text('It works.');
  return toolUse('Agent', { description: 'find it', prompt: 'Where is it?', subagent_type: 'finder' });
};

/** An agent works in the background by default: the call returns at once, and its end starts a turn. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  // A result may come before or after the end of the task.
  const results: unknown[] = [];
  const reduce = taskMessages();
  const query = sdk.query({
    prompt: 'Start it.',
    options: {
      ...options(sandbox),
      tools: ['Agent'],
      agents: { finder: { description: 'Finds things', prompt: 'You find things.' } },
    },
  });
  for await (const message of query) {
    const known = reduce(message);
    if (known !== undefined) (message.type === 'result' ? results : seen).push(known);
    if (message.type !== 'user' || message.tool_use_result === undefined) continue;
    const { status, isAsync, description, prompt, resolvedModel, canReadOutputFile } =
      message.tool_use_result as Record<string, unknown>;
    seen.push(['call', { status, isAsync, description, prompt, resolvedModel, canReadOutputFile }]);
  }
  return [...seen, ...results];
}
