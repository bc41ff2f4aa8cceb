import { text } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  text('First answer.'),
  text('Second answer.'),
  text('Third answer.'),
  text('<summary>Two answers.</summary>'),
  text('Fourth answer.'),
];

/** `/clear` and `/compact` end and start a session for callbacks; the start and the end of the process do not. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const conversation = converse();
  const prompts = [
    '/clear',
    'Second question. '.repeat(500),
    'Third question.',
    '/compact',
    'Fourth question.',
  ];
  const hooked: unknown[] = [];
  const record = async (input: object) => {
    const { hook_event_name: event, ...fields } = input as { hook_event_name: string } & Record<
      string,
      unknown
    >;
    const { source, reason, model, permission_mode, background_tasks, session_crons } = fields;
    hooked.push({ event, source, reason, model, permission_mode, background_tasks, session_crons });
    if (event !== 'SessionStart') return {};
    return {
      hookSpecificOutput: { hookEventName: event, additionalContext: `Started by ${source}.` },
    };
  };
  const events = ['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop'];
  const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [record] }]]));
  const query = sdk.query({ prompt: conversation, options: { ...options(sandbox), hooks } });
  conversation.say('First question.');
  for await (const message of query) {
    if (message.type !== 'result') continue;
    const next = prompts.shift();
    if (next === undefined) conversation.end();
    else conversation.say(next);
  }
  return {
    hooked,
    contexts: sandbox.api.requests.map(({ messages }) => contextsIn(JSON.stringify(messages))),
  };
}

function contextsIn(messages: string): string[] {
  return ['startup', 'clear', 'compact'].filter((source) => messages.includes(`Started by ${source}.`));
}
