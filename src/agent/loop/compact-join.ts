import type { ModelMessage } from '../models/model.ts';

/** The same conversation with one user turn where there were several in a row: a turn that failed leaves its prompt. */
export function joinTurns(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    // Replies are never joined: a model may have signed what stands in one.
    if (before?.role === 'user' && message.role === 'user') {
      joined[joined.length - 1] = { role: 'user', content: [...before.content, ...message.content] };
    } else joined.push(message);
  }
  return joined;
}
