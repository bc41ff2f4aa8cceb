import { failedOutcome } from '../../loop/run-calls.ts';
import { TODO_WRITE } from '../../task-list/todo-list.ts';
import { defineBuiltIn } from '../built-in.ts';

/** How many items a todo list may have. */
const MAX_TODOS = 500;

/** Replaces the todo list of the conversation. */
export const TODO_WRITE_TOOL = defineBuiltIn({
  name: TODO_WRITE,
  description:
    'Replaces the todo list of this conversation, which the user can see. Use it for work with three or more steps: list ' +
    'the steps first, keep exactly one in_progress, and mark each as completed as soon as it is done. A list whose items ' +
    'are all completed is emptied. Do not use it for a single simple step.',
  annotations: { title: 'Update the todo list', readOnlyHint: false, destructiveHint: false },
  approval: 'never',
  required: {
    todos: {
      type: 'array',
      description: 'The whole list.',
      maxItems: MAX_TODOS,
      items: {
        type: 'object',
        properties: {
          content: { type: 'string', minLength: 1, description: 'What to do, such as "Run the tests".' },
          status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
          activeForm: {
            type: 'string',
            minLength: 1,
            description: 'What is being done, such as "Running the tests".',
          },
        },
        required: ['content', 'status', 'activeForm'],
        additionalProperties: false,
      },
    },
  },
  optional: {},
  async run({ todos }, { services }) {
    if (!services.lists) return failedOutcome(`${TODO_WRITE} is not available in this session`);
    const oldTodos = services.lists.writeTodos(todos);
    return {
      content: 'The todo list was updated. Continue with its next item, and keep the list up to date.',
      isError: false,
      programResult: { oldTodos, newTodos: todos },
    };
  },
});
