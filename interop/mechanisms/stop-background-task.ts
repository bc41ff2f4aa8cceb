import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';
import { taskMessages } from '../task-messages.ts';

export const script = [
  toolUse('TaskStop', { task_id: 'nothing' }),
  toolUse('Bash', { command: 'sleep 300', description: 'wait', run_in_background: true }),
  text('It runs.'),
  text('It was stopped.'),
];

/** The program stops a command of the model; the model is not woken for that. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  // A result may come before or after the end of the task.
  const results: unknown[] = [];
  const reduce = taskMessages();
  // The prompt stays open until the stop is confirmed: after it, an agent may exit before it responds to requests.
  const conversation = converse();
  conversation.say('Run it.');
  const query = sdk.query({
    prompt: conversation,
    options: { ...options(sandbox), tools: ['Bash', 'TaskStop'], allowedTools: ['Bash'] },
  });
  for await (const message of query) {
    const known = reduce(message);
    if (known !== undefined) (message.type === 'result' ? results : seen).push(known);
    if (message.type === 'user' && Array.isArray(message.message.content)) {
      const [block] = message.message.content;
      if (block?.type === 'tool_result' && block.is_error) seen.push(['error', block.content]);
    }
    if (message.type === 'system' && message.subtype === 'task_started') {
      await query.stopTask(message.task_id);
      conversation.end();
    }
  }
  return [...seen, ...results];
}
