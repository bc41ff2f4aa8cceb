import { isRecord } from '../../base/json-value.ts';
import type { ModelMessage } from '../models/model.ts';

/** An item of the todo list. */
export type Todo = {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly activeForm: string;
};

export const TODO_WRITE = 'TodoWrite';

/** The items to keep of a written list: a list of completed items is done, so that the next one starts empty. */
export function keptTodos(todos: readonly Todo[]): readonly Todo[] {
  return todos.every(({ status }) => status === 'completed') ? [] : todos;
}

/** The todo list of a resumed conversation: that of its last `TodoWrite` call, or an empty one if that call is invalid. */
export function restoredTodos(messages: readonly ModelMessage[]): readonly Todo[] {
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'assistant') continue;
    for (const block of content.toReversed()) {
      if (block.type === 'tool_use' && block.name === TODO_WRITE) return parseTodos(block.input) ?? [];
    }
  }
  return [];
}

function parseTodos(input: unknown): readonly Todo[] | undefined {
  if (!isRecord(input) || !Array.isArray(input.todos) || !input.todos.every(isTodo)) return undefined;
  return keptTodos(input.todos);
}

function isTodo(value: unknown): value is Todo {
  if (!isRecord(value)) return false;
  const { content, status, activeForm } = value;
  const isText = (it: unknown) => typeof it === 'string' && it !== '';
  return isText(content) && isText(activeForm) && /^(?:pending|in_progress|completed)$/.test(String(status));
}
