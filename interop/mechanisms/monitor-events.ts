import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';
import { taskMessages } from '../task-messages.ts';

export const script = [
  toolUse('Monitor', { description: 'watch it', command: 'sleep 1; echo a; exit 3', timeout_ms: 20_000 }),
  text('It is watched.'),
  text('It has ended.'),
  text('And over.'),
];

/** A monitor needs approval as a command does; its events and its end start turns. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const reduce = taskMessages();
  const query = sdk.query({
    prompt: 'Watch it.',
    options: {
      ...options(sandbox),
      tools: ['Bash', 'Monitor'],
      canUseTool: async (name, input) => {
        seen.push(['asked', name, input]);
        return { behavior: 'allow', updatedInput: input };
      },
    },
  });
  for await (const message of query) {
    const known = reduce(message);
    if (known !== undefined && message.type !== 'result') seen.push(known);
    if (message.type !== 'user' || message.tool_use_result === undefined) continue;
    const { taskId, ...result } = message.tool_use_result as Record<string, unknown>;
    seen.push(['call', typeof taskId, result]);
  }
  return seen;
}
