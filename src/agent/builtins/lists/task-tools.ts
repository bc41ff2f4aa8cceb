import type { TaskGetOutput, TaskListOutput, TaskUpdateOutput } from '../../../protocol/tools/task-tools.ts';
import { failedOutcome, type ToolOutcome } from '../../loop/run-calls.ts';
import { openBlockers, type Task } from '../../task-list/task-graph.ts';
import { type BuiltInContext, defineBuiltIn, type Members } from '../built-in.ts';

const NOT_FOUND = 'Task not found';
const METADATA = {
  type: 'object',
  properties: {},
  required: [],
  additionalProperties: true,
} as const;
const TASK_ID = { taskId: { type: 'string', description: 'The id of the task.' } } as const satisfies Members;
const IDS = { type: 'array', items: { type: 'string' }, maxItems: 1000 } as const;

/** Adds a task to the task list. */
export const TASK_CREATE = defineBuiltIn({
  name: 'TaskCreate',
  description:
    'Adds a task to the task list, with status pending. Use the list for work with three or more steps, or if the user asks ' +
    'for one. Describe each task so that another agent could do it; set dependencies with TaskUpdate.',
  annotations: { title: 'Create a task', readOnlyHint: false, destructiveHint: false },
  approval: 'never',
  required: {
    subject: { type: 'string', description: 'The task in a few words, such as "Run the tests".' },
    description: { type: 'string', description: 'What to do.' },
  },
  optional: {
    activeForm: { type: 'string', description: 'What is being done, such as "Running the tests".' },
    metadata: { ...METADATA, description: 'Further data to keep with the task.' },
  },
  async run(input, { services: { lists } }, signal) {
    if (!lists) return unavailable('TaskCreate');
    const created = await lists.createTask(input, signal);
    if (created.kind === 'refused') return failedOutcome(created.fault);
    const { id, subject, description } = created.task;
    return succeeded(`Task #${id} created successfully: ${subject}`, { task: { id, subject, description } });
  },
});

/** Shows a task. */
export const TASK_GET = defineBuiltIn({
  name: 'TaskGet',
  description:
    'Shows a task of the task list: description, status and dependencies. Read it before you start the task.',
  annotations: { title: 'Show a task', readOnlyHint: true },
  required: TASK_ID,
  optional: {},
  async run({ taskId }, { services: { lists } }) {
    if (!lists) return unavailable('TaskGet');
    const task = lists.tasks.get(taskId);
    const { id, subject, description, status, blocks, blockedBy } = task ?? NO_TASK;
    const shown = { id, subject, description, status, blocks: [...blocks], blockedBy: [...blockedBy] };
    const result: TaskGetOutput = { task: task ? shown : null };
    return succeeded(task ? describeTask(task) : NOT_FOUND, result);
  },
});

/** Lists all tasks. */
export const TASK_LIST = defineBuiltIn({
  name: 'TaskList',
  description:
    'Lists all tasks with status, owner and open dependencies. Start a task that is pending, has no owner and is not blocked; ' +
    'of several, the one with the lowest id.',
  annotations: { title: 'List tasks', readOnlyHint: true },
  required: {},
  optional: {},
  async run(_, { services: { lists } }) {
    if (!lists) return unavailable('TaskList');
    const graph = lists.tasks.graph();
    const tasks = [...graph.values()].map((task) => {
      const { id, subject, status, owner } = task;
      return {
        id,
        subject,
        status,
        ...(owner !== undefined && { owner }),
        blockedBy: openBlockers(task, graph),
      };
    });
    const result: TaskListOutput = { tasks };
    return succeeded(tasks.map(rowOf).join('\n') || 'No tasks found', result);
  },
});

/** Changes a task. */
export const TASK_UPDATE = defineBuiltIn({
  name: 'TaskUpdate',
  description:
    'Changes a task of the task list. Set status to in_progress when you start the task, and to completed only when it is ' +
    'done entirely; deleted removes the task. A task cannot depend on itself, directly or through other tasks.',
  annotations: { title: 'Update a task', readOnlyHint: false, destructiveHint: false },
  approval: 'never',
  required: TASK_ID,
  optional: {
    subject: { type: 'string', description: 'The new subject.' },
    description: { type: 'string', description: 'The new description.' },
    activeForm: { type: 'string', description: 'What is being done, such as "Running the tests".' },
    status: { type: 'string', enum: ['pending', 'in_progress', 'completed', 'deleted'] },
    addBlocks: { ...IDS, description: 'The ids of tasks that cannot start before this one is completed.' },
    addBlockedBy: {
      ...IDS,
      description: 'The ids of tasks that must be completed before this one can start.',
    },
    owner: { type: 'string', description: 'The name of the agent that does the task.' },
    metadata: { ...METADATA, description: 'Members to add to the data of the task; null removes a member.' },
  },
  async run({ taskId, status, ...change }, context, signal) {
    const { lists } = context.services;
    if (!lists) return unavailable('TaskUpdate');
    if (status === 'deleted') return deleteTask(taskId, context);
    const changed = await lists.updateTask(taskId, { ...change, ...(status && { status }) }, signal);
    switch (changed.kind) {
      case 'missing':
        return unchanged(taskId, NOT_FOUND);
      case 'refused':
        return unchanged(taskId, changed.fault);
      case 'cycle':
        return unchanged(
          taskId,
          `The dependency is not added, because it would form a cycle: ${cycleText(changed.ids)}`,
        );
      case 'changed': {
        const updatedFields = [...changed.updatedFields];
        const { statusChange } = changed;
        const result: TaskUpdateOutput = {
          success: true,
          taskId,
          updatedFields,
          ...(statusChange && { statusChange }),
        };
        return succeeded(`Updated task #${taskId} ${updatedFields.join(', ')}`, result);
      }
    }
  },
});

function deleteTask(taskId: string, { services: { lists } }: BuiltInContext): ToolOutcome {
  const deleted = lists?.tasks.remove(taskId);
  if (!deleted) return unchanged(taskId, NOT_FOUND);
  const result: TaskUpdateOutput = {
    success: true,
    taskId,
    updatedFields: ['deleted'],
    statusChange: { from: deleted.status, to: 'deleted' },
  };
  return succeeded(`Updated task #${taskId} deleted`, result);
}

/** The result of a refused change. It is not an error result, because the model can correct the change. */
function unchanged(taskId: string, error: string): ToolOutcome {
  const result: TaskUpdateOutput = { success: false, taskId, updatedFields: [], error };
  return succeeded(error, result);
}

function succeeded(content: string, programResult: unknown): ToolOutcome {
  return { content, isError: false, programResult };
}

function unavailable(tool: string): ToolOutcome {
  return failedOutcome(`${tool} is not available in this session`);
}

const NO_TASK: Task = { id: '', subject: '', description: '', status: 'pending', blocks: [], blockedBy: [] };

function describeTask({ id, subject, description, status, blocks, blockedBy }: Task): string {
  return [
    `Task #${id}: ${subject}`,
    `Status: ${status}`,
    `Description: ${description}`,
    ...(blockedBy.length > 0 ? [`Blocked by: ${hashed(blockedBy)}`] : []),
    ...(blocks.length > 0 ? [`Blocks: ${hashed(blocks)}`] : []),
  ].join('\n');
}

function rowOf({ id, subject, status, owner, blockedBy }: TaskListOutput['tasks'][number]): string {
  const blocked = blockedBy.length > 0 ? ` [blocked by ${hashed(blockedBy)}]` : '';
  return `#${id} [${status}] ${subject}${owner === undefined ? '' : ` (${owner})`}${blocked}`;
}

function hashed(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}

/** A long cycle is cut in the middle. */
function cycleText(ids: readonly string[]): string {
  const shown = ids.length > 12 ? [...ids.slice(0, 6), '…', ...ids.slice(-5)] : ids;
  return shown.map((id) => (id === '…' ? id : `#${id}`)).join(' is blocked by ');
}
