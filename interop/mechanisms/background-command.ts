import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';
import { taskMessages } from '../task-messages.ts';

export const script = [
  toolUse('Bash', { command: 'echo a; exit 3', description: 'say a', run_in_background: true }),
  text('It runs.'),
  text('It failed.'),
];

/** A command in the background: its result, the messages about it, and the turn that its end starts. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  // A result may come before or after the end of the task.
  const results: unknown[] = [];
  const reduce = taskMessages();
  const query = sdk.query({
    prompt: 'Run it.',
    options: { ...options(sandbox), tools: ['Bash'], allowedTools: ['Bash'] },
  });
  for await (const message of query) {
    const known = reduce(message);
    if (known !== undefined) (message.type === 'result' ? results : seen).push(known);
    if (message.type !== 'user' || message.tool_use_result === undefined) continue;
    const { backgroundTaskId, ...result } = message.tool_use_result as Record<string, unknown>;
    seen.push(['call', typeof backgroundTaskId, result]);
  }
  return [...seen, ...results];
}
