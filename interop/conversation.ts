import type { UserMessage } from './program.ts';

/** A prompt stream to which user messages are added while the query runs. */
export interface Conversation extends AsyncIterable<UserMessage> {
  say(content: UserMessage['message']['content']): void;
  /** Ends the stream: the query ends after its current turn. */
  end(): void;
}

/** Yields each message when it is added. */
export function converse(): Conversation {
  const said: (UserMessage | undefined)[] = [];
  let wake = Promise.withResolvers<void>();
  const put = (message: UserMessage | undefined) => {
    said.push(message);
    wake.resolve();
  };
  return {
    say: (content) =>
      put({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' }),
    end: () => put(undefined),
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (said.length === 0) await wake.promise;
        wake = Promise.withResolvers<void>();
        while (said.length > 0) {
          const next = said.shift();
          if (next === undefined) return;
          yield next;
        }
      }
    },
  };
}
