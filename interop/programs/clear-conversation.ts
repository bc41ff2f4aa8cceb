import { text } from '../../test/support/model-api/model-reply.ts';
import { latestTexts } from '../../test/support/model-api/model-view.ts';
import { converse } from '../conversation.ts';
import { type Message, options, type Sandbox, type Sdk } from '../program.ts';

export const script = [text('First answer.'), text('Second answer.')];

/** `/clear` between two turns: the conversation continues empty, as another session. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const conversation = converse();
  const prompts = ['/clear', 'Second question.'];
  const query = sdk.query({ prompt: conversation, options: options(sandbox) });
  const seen: unknown[] = [];
  const sessions: string[] = [];
  conversation.say('First question.');
  for await (const message of query) {
    if (!sessions.includes(message.session_id ?? '')) sessions.push(message.session_id ?? '');
    if (isCompared(message)) seen.push({ ...summaryOf(message), session: sessions.length });
    if (message.type !== 'result') continue;
    const next = prompts.shift();
    if (next === undefined) conversation.end();
    else conversation.say(next);
  }
  const last = sandbox.api.requests.at(-1);
  const isForgotten = !JSON.stringify(last?.messages).includes('First question.');
  return {
    seen,
    requests: sandbox.api.requests.length,
    isForgotten,
    last: last && latestTexts(last).map((text) => text.trimEnd()),
  };
}

function isCompared({ type, ...message }: Message): boolean {
  return type !== 'system' || ('subtype' in message && message.subtype === 'init');
}

function summaryOf(message: Message): object {
  if (message.type === 'result') {
    const { subtype, num_turns, is_error, terminal_reason } = message;
    const { result, local_command } = message.subtype === 'success' ? message : {};
    return { type: 'result', subtype, num_turns, is_error, terminal_reason, result, local_command };
  }
  if (message.type !== 'conversation_reset') return { type: message.type };
  return { ...message, isOwnId: message.uuid === message.new_conversation_id };
}
