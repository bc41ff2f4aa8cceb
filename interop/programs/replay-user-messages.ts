import { text } from '../../test/support/model-api/model-reply.ts';
import { type Transcript, transcribe } from '../observe.ts';
import { type Message, options, type Sandbox, type Sdk, type UserMessage } from '../program.ts';

export const script = () => text('Yes.');

const UUID = '11111111-1111-4111-8111-111111111111';

/** With the flag, as null or as an empty string, user messages come back when their turn begins. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const answered = Promise.withResolvers<void>();
  const ask = async (prompt: string | AsyncIterable<UserMessage>, flag: string | null) => {
    const replayed: unknown[] = [];
    const given = { ...options(sandbox), extraArgs: { 'replay-user-messages': flag } };
    const seen = await transcribe(sdk.query({ prompt, options: given }), (message) => {
      if (message.type === 'result') answered.resolve();
      if (message.type === 'user' && 'isReplay' in message) replayed.push(shape(message));
    });
    return { replayed, seen: withoutLifecycle(seen) };
  };
  const stream = (...messages: UserMessage[]) => ReadableStream.from(messages);
  async function* repeated(): AsyncGenerator<UserMessage> {
    yield user('Hello.', { uuid: UUID });
    await answered.promise;
    yield user('Hello.', { uuid: UUID });
  }
  return {
    // First, because it waits for the first result of all.
    repeated: await ask(repeated(), null),
    asNull: await ask('Hello.', null),
    asText: await ask('Hello.', ''),
    blocks: await ask(stream(user([{ type: 'text', text: 'Hello.' }], { uuid: UUID })), null),
    note: await ask(stream(user('Know this.', { shouldQuery: false }), user('Hello.')), null),
    synthetic: await ask(stream(user('Hello.', { isSynthetic: true })), null),
  };
}

function user(content: UserMessage['message']['content'], more: Partial<UserMessage> = {}): UserMessage {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    session_id: '',
    ...more,
  };
}

function shape(message: Extract<Message, { type: 'user' }>): unknown {
  return { ...message, isOwnId: message.uuid === UUID };
}

/** The CLI reports the progress of messages with an id in messages that the published types do not have. */
function withoutLifecycle({ messages, ...rest }: Transcript): Transcript {
  const kept = messages.filter((message) => (message as { type?: string }).type !== 'command_lifecycle');
  return { messages: kept, ...rest };
}
