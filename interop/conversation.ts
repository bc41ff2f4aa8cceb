import type { UserMessage } from './program.ts';

/** A prompt that is spoken while the query runs, one user message at a time. */
export interface Conversation extends AsyncIterable<UserMessage> {
  say(text: string): void;
  /** No more will be said: the query ends after the turn it is in. */
  end(): void;
}

/** Each message is handed over when it is said, never before. */
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
