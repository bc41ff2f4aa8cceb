import { failedOutcome } from '../loop/run-calls.ts';
import { defineBuiltIn } from './built-in.ts';

export const TASK = defineBuiltIn({
  name: 'Task',
  description:
    'Gives a task to a sub-agent and returns its final message. It knows nothing of this conversation: the prompt must ' +
    'hold everything it needs, and say what to report. Several calls in one message run side by side.',
  annotations: { title: 'Delegate', readOnlyHint: false, destructiveHint: false },
  required: {
    description: { type: 'string', minLength: 1, description: 'The work in three to five words.' },
    prompt: { type: 'string', minLength: 1, description: 'What the sub-agent is told.' },
    subagent_type: { type: 'string', minLength: 1, description: 'Which kind of sub-agent.' },
  },
  optional: { model: { type: 'string', minLength: 1, description: 'Another model than its kind asks for.' } },
  concurrency: 'others',
  async run({ description, prompt, subagent_type: type, model }, context, signal) {
    if (!Object.hasOwn(context.agents, type)) {
      return failedOutcome(`Unknown subagent_type "${type}". ${kinds(context.agents)}`);
    }
    return context.delegate({ description, prompt, type, ...(model !== undefined && { model }) }, signal);
  },
});

function kinds(agents: Readonly<Record<string, { readonly description: string }>>): string {
  const rows = Object.entries(agents).map(([name, agent]) => `${name} (${agent.description})`);
  return rows.length === 0 ? 'This session has none.' : `There are: ${rows.join(', ')}`;
}
