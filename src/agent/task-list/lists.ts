import { sliceText } from '../../base/text/display-text.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { ModelMessage } from '../models/model.ts';
import type { ChangedGraph, Task, TaskChange } from './task-graph.ts';
import { type NewTask, TaskList } from './task-list.ts';
import { keptTodos, restoredTodos, TODO_WRITE, type Todo } from './todo-list.ts';

/** The tools whose calls count as work on a list; reading a list does not. */
const TASK_TOOLS: ReadonlySet<string> = new Set(['TaskCreate', 'TaskUpdate']);
const TODO_TOOLS: ReadonlySet<string> = new Set([TODO_WRITE]);
/** After how many model requests without work on the list, or since the last reminder, the model is reminded. */
const REQUESTS_BETWEEN_REMINDERS = 10;
/** How many items a reminder contains, and how much of each. */
const MAX_SHOWN = 50;
const MAX_SHOWN_LENGTH = 200;

const TODO_REMINDER =
  'The todo list has not changed for a while. If the current work has several steps, write its steps and their state ' +
  'with TodoWrite, and leave out what is no longer planned. Otherwise ignore this reminder. Do not mention it to the user.';
const TASK_REMINDER =
  'The task list has not changed for a while. If the current work has several steps, add tasks with TaskCreate, and set ' +
  'their status with TaskUpdate when you start and complete them. Otherwise ignore this reminder. Do not mention it to the user.';

export type ListDeps = {
  /** The directory of the task list of the current session. */
  directory(): string;
  /** The messages of the resumed conversation. */
  readonly resumed: readonly ModelMessage[];
  /** The current messages of the conversation. */
  messages(): readonly ModelMessage[];
  /** Whether the model is offered a tool. */
  isOffered(tool: string): boolean;
  runHook(event: 'TaskCreated' | 'TaskCompleted', task: Task, signal: AbortSignal): Promise<HookEffect>;
};

/** A change that a hook has refused, with its feedback for the model. */
type Feedback = { readonly kind: 'refused'; readonly fault: string };

/** The todo list and the task list of a session, and the reminders to use them. */
export class Lists {
  readonly #deps: ListDeps;
  #todos: readonly Todo[];
  #tasks: TaskList | undefined;

  constructor(deps: ListDeps) {
    this.#deps = deps;
    this.#todos = restoredTodos(deps.resumed);
  }

  /** Replaces the todo list; returns the former one. */
  writeTodos(todos: readonly Todo[]): readonly Todo[] {
    const before = this.#todos;
    this.#todos = keptTodos(todos);
    return before;
  }

  /** The task list; `/clear` starts another one. */
  get tasks(): TaskList {
    const directory = this.#deps.directory();
    if (this.#tasks?.directory !== directory) this.#tasks = new TaskList(directory);
    return this.#tasks;
  }

  /** Creates a task; it is removed again if a hook refuses it. */
  async createTask(task: NewTask, signal: AbortSignal): Promise<ReturnType<TaskList['create']>> {
    const { tasks } = this;
    const created = tasks.create(task);
    if (created.kind === 'refused') return created;
    const feedback = await this.#feedback('TaskCreated', created.task, signal);
    if (!feedback) return created;
    tasks.remove(created.task.id);
    return feedback;
  }

  /** Changes a task, unless a hook refuses its completion. */
  async updateTask(id: string, change: TaskChange, signal: AbortSignal): Promise<ChangedGraph | Feedback> {
    const { tasks } = this;
    const task = tasks.get(id);
    if (task && change.status === 'completed' && task.status !== 'completed') {
      const feedback = await this.#feedback('TaskCompleted', task, signal);
      if (feedback) return feedback;
    }
    return tasks.update(id, change);
  }

  /** What a hook objects to the completion of a task; undefined if the task may be completed. */
  async completionFault(task: Task, signal: AbortSignal): Promise<string | undefined> {
    return (await this.#feedback('TaskCompleted', task, signal))?.fault;
  }

  /** Called when `/clear` starts another conversation. */
  clear(): void {
    this.#todos = [];
  }

  beforePrompt(): readonly string[] {
    return this.#reminders();
  }

  afterRound(): readonly string[] {
    return this.#reminders();
  }

  async #feedback(
    event: 'TaskCreated' | 'TaskCompleted',
    task: Task,
    signal: AbortSignal,
  ): Promise<Feedback | undefined> {
    const { decision, reason, stop } = await this.#deps.runHook(event, task, signal);
    if (decision !== 'deny' && stop === undefined) return undefined;
    return { kind: 'refused', fault: `${event} hook feedback:\n${reason ?? stop ?? 'refused'}` };
  }

  #reminders(): readonly string[] {
    const { isOffered, messages } = this.#deps;
    if (isOffered(TODO_WRITE)) {
      if (!isReminderDue(messages(), TODO_TOOLS, TODO_REMINDER)) return [];
      return [
        withItems(
          TODO_REMINDER,
          this.#todos.map(({ status, content }, at) => `${at + 1}. [${status}] ${content}`),
        ),
      ];
    }
    if (!isOffered('TaskCreate') || !isReminderDue(messages(), TASK_TOOLS, TASK_REMINDER)) return [];
    const tasks = [...this.tasks.graph().values()];
    return [
      withItems(
        TASK_REMINDER,
        tasks.map(({ id, status, subject }) => `#${id}. [${status}] ${subject}`),
      ),
    ];
  }
}

/** Whether the model has answered enough requests since it changed the list, and since the last reminder. */
export function isReminderDue(
  messages: readonly ModelMessage[],
  tools: ReadonlySet<string>,
  reminder: string,
): boolean {
  let requests = 0;
  for (const { role, content } of messages.toReversed()) {
    if (role === 'assistant') {
      if (content.some((block) => block.type === 'tool_use' && tools.has(block.name))) return false;
      requests += 1;
      if (requests === REQUESTS_BETWEEN_REMINDERS) return true;
    } else if (content.some((block) => block.type === 'text' && block.text.includes(reminder))) {
      return false;
    }
  }
  return false;
}

function withItems(reminder: string, items: readonly string[]): string {
  const shown = items
    .slice(0, MAX_SHOWN)
    .map((item) => sliceText(item.replaceAll(/\s+/g, ' '), MAX_SHOWN_LENGTH));
  const rest = items.length > MAX_SHOWN ? [`and ${items.length - MAX_SHOWN} more`] : [];
  return `${reminder}\n\n${items.length === 0 ? 'The list is empty.' : ['The list:', ...shown, ...rest].join('\n')}`;
}
