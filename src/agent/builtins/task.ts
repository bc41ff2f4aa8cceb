import { failedOutcome } from '../loop/run-calls.ts';
import { defineBuiltIn } from './built-in.ts';

export const TASK = defineBuiltIn({
  name: 'Task',
  description:
    'Gives a task to a sub-agent and returns its final message. The sub-agent does not see this conversation: the prompt must ' +
    'contain all the information the sub-agent needs, and what to report. Several calls in one message run concurrently.',
  annotations: { title: 'Delegate', readOnlyHint: false, destructiveHint: false },
  required: {
    description: { type: 'string', minLength: 1, description: 'The work in three to five words.' },
    prompt: { type: 'string', minLength: 1, description: 'The instructions for the sub-agent.' },
    subagent_type: { type: 'string', minLength: 1, description: 'The type of sub-agent.' },
  },
  optional: { model: { type: 'string', minLength: 1, description: 'Overrides the model of the sub-agent.' } },
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
  return rows.length === 0 ? 'This session has no sub-agents.' : `Available: ${rows.join(', ')}`;
}
