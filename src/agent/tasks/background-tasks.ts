import { truncate } from '../../base/text/display-text.ts';
import { isWithin } from '../../config/files/read-text.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { Moment, NoticeBatch, NoticeSource } from './notices.ts';

/** The kinds of background work, as programs know them. */
export type TaskType = 'local_agent' | 'local_bash' | 'mcp_task';

/** How a task ended. `killed`: the model or the user stopped it. */
export type TaskEnd = {
  readonly status: 'completed' | 'failed' | 'killed';
  /** One line for people and the model. */
  readonly summary: string;
  /** What the task returns to the model besides its output file. */
  readonly result?: string;
  readonly usage?: TaskUsage;
};

export type TaskUsage = {
  readonly total_tokens: number;
  readonly tool_uses: number;
  readonly duration_ms: number;
};

export type NewTask = {
  readonly id: string;
  readonly type: TaskType;
  readonly description: string;
  /** The id of the call that started the task. */
  readonly toolUseId?: string | undefined;
  /** The directory in which a command was started. */
  readonly directory?: string;
  /** Whether the call that started it has returned. A task in the foreground has no notification for the model. */
  readonly isBackgrounded: boolean;
  /** The file with the output of the task, which the model may read. */
  readonly outputFile: string;
  /** Further members of `task_started`. */
  readonly fields?: Frame;
  /** Part of another call, such as a skill that runs in a sub-agent: only its start and its end are reported. */
  readonly isAmbient?: boolean;
  /** What Stop hooks get besides id, type, status and description. */
  readonly summary?: Frame;
  /** Asks a task in the foreground to let its call return. */
  onMoveRequest?(): void;
  /** Ends the work; `ended` is called then. */
  stop(): void | Promise<void>;
};

/** A running task, for the code that runs it. */
export type TaskHandle = {
  readonly id: string;
  readonly isBackgrounded: boolean;
  /** Reports one step. */
  progress(step: Frame & { readonly usage: TaskUsage }): void;
  /** The call that started the task returns without waiting for its end. */
  moveToBackground(): void;
  /** A line of output that the model should get at once, as of a monitor. */
  event(text: string): void;
  ended(end: TaskEnd): void;
};

type RunningTask = NewTask & {
  readonly runId: string;
  isBackgrounded: boolean;
  stoppedBy?: 'model' | 'user';
};

type TaskNotice = { readonly text: string; readonly runId: string; readonly startsTurn: boolean };

/** Maximum number of characters of a description in reports to hooks. */
const MAX_HOOK_TEXT = 1_000;
/** Ended tasks whose ids are remembered, for error messages. */
const MAX_ENDED = 1_000;

const REMINDER =
  'This is an automatic notification about background work, not a message from the user. It does not answer a question and does not approve anything.';

/** The background work of a session. Reports it to the program, and its ends to the model. */
export class BackgroundTasks implements NoticeSource, AsyncDisposable {
  readonly #running = new Map<string, RunningTask>();
  readonly #ended = new Set<string>();
  readonly #emit: (message: Frame) => void;
  readonly #onNotice: () => void;
  #notices: TaskNotice[] = [];
  #changed = Promise.withResolvers<void>();

  constructor({ emit, onNotice }: { emit(message: Frame): void; onNotice(): void }) {
    this.#emit = emit;
    this.#onNotice = onNotice;
  }

  /** Registers work that has begun. */
  start(task: NewTask): TaskHandle {
    const running: RunningTask = { ...task, runId: newRunId() };
    this.#running.set(task.id, running);
    this.#ended.delete(task.id);
    if (task.isBackgrounded) this.#reportChange();
    this.#emit({
      type: 'system',
      subtype: 'task_started',
      ...idsOf(running),
      description: task.description,
      is_backgrounded: task.isBackgrounded,
      task_type: task.type,
      ...task.fields,
      ...ambient(task),
    });
    return {
      id: task.id,
      get isBackgrounded() {
        return running.isBackgrounded;
      },
      progress: (step) => {
        if (task.isAmbient) return;
        this.#emit({
          type: 'system',
          subtype: 'task_progress',
          ...idsOf(running),
          description: task.description,
          ...step,
        });
      },
      moveToBackground: () => this.#moveToBackground(running),
      event: (text) => this.#notify(running, eventText(running, text)),
      ended: (end) => this.#end(running, end),
    };
  }

  /** The tasks that run in the background. */
  get running(): readonly (NewTask & { readonly runId: string })[] {
    return [...this.#running.values()].filter(({ isBackgrounded }) => isBackgrounded);
  }

  /** The commands that were started in a directory or below it, in the foreground or the background. */
  commandsIn(directory: string): readonly NewTask[] {
    return [...this.#running.values()].filter(
      (task) => task.directory !== undefined && isWithin(task.directory, directory),
    );
  }

  /** The running task with this id, in the foreground or the background. */
  find(id: string): NewTask | undefined {
    return this.#running.get(id);
  }

  /** Ends a task; settles when it has ended. False for an unknown or ended id. */
  async stop(id: string, by: 'model' | 'user'): Promise<boolean> {
    const task = this.#running.get(id);
    if (!task) return false;
    task.stoppedBy = by;
    await task.stop();
    while (this.#running.get(id) === task) await this.changed();
    return true;
  }

  /** Moves the tasks of a call, or all, to the background. False if none can be moved. */
  requestMove(toolUseId?: string): boolean {
    const movable = [...this.#running.values()].filter(
      (task) =>
        !task.isBackgrounded &&
        task.onMoveRequest &&
        (toolUseId === undefined || task.toolUseId === toolUseId),
    );
    for (const task of movable) task.onMoveRequest?.();
    return movable.length > 0;
  }

  /** The running tasks as `background_tasks` in the input of Stop hooks. */
  get summaries(): Frame[] {
    return this.running.map(({ id, type, description, summary }) => ({
      id,
      type: LABELS[type],
      status: 'running',
      description: clipped(description),
      ...summary,
    }));
  }

  /** Whether a notice waits that starts a turn. */
  get hasNotices(): boolean {
    return this.#notices.some(({ startsTurn }) => startsTurn);
  }

  take(moment: Moment): NoticeBatch | undefined {
    const startsTurn = moment === 'idle' || moment === 'finishing';
    if (this.#notices.length === 0 || (startsTurn && !this.hasNotices)) return undefined;
    const taken = this.#notices;
    this.#notices = [];
    return {
      notices: taken.map(({ text, runId }) => ({ text, origin: { kind: 'task-notification', runId } })),
      channelMessages: [],
      stored() {},
      dropped: () => this.#notices.unshift(...taken),
    };
  }

  /** Settles at the next start or end of a task. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** Stops everything that runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.values()].map(async (task) => task.stop()));
  }

  #moveToBackground(task: RunningTask): void {
    if (task.isBackgrounded) return;
    task.isBackgrounded = true;
    this.#emit({
      type: 'system',
      subtype: 'task_updated',
      ...idsOf(task, 'only'),
      patch: { is_backgrounded: true },
    });
    this.#reportChange();
  }

  #end(task: RunningTask, end: TaskEnd): void {
    if (this.#running.get(task.id) !== task) return;
    this.#running.delete(task.id);
    this.#ended.add(task.id);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    const status = task.stoppedBy === undefined ? end.status : 'killed';
    const patch = { status, end_time: Date.now() };
    // The call of such a command returns its result.
    const isForegroundCommand = task.type === 'local_bash' && !task.isBackgrounded;
    if (!task.isAmbient && !isForegroundCommand)
      this.#emit({ type: 'system', subtype: 'task_updated', ...idsOf(task, 'only'), patch });
    this.#emit({
      type: 'system',
      subtype: 'task_notification',
      ...idsOf(task),
      status: status === 'killed' ? 'stopped' : status,
      output_file: task.outputFile,
      // Programs get the report of an agent, and the description of what was stopped or is a part of another call.
      summary:
        status === 'killed' || task.isAmbient || isForegroundCommand
          ? task.description
          : (end.result ?? end.summary),
      ...(end.usage && { usage: end.usage }),
      ...ambient(task),
    });
    if (task.isBackgrounded) this.#reportChange();
    if (task.isBackgrounded && task.stoppedBy !== 'model') {
      const shown =
        task.stoppedBy === 'user' ? { ...end, status, summary: `${end.summary} (${STOPPED})` } : end;
      // The user who stopped a task does not wait for a reaction of the model.
      this.#notify(task, endText(task, shown), task.stoppedBy === undefined);
    }
    this.#settleChange();
  }

  #notify({ runId }: RunningTask, body: string, startsTurn = true): void {
    const text = `<system-reminder>\n${REMINDER}\n\n${body}\n</system-reminder>`;
    this.#notices.push({ text, runId, startsTurn });
    if (startsTurn) this.#onNotice();
  }

  #reportChange(): void {
    const tasks = this.running.map(({ id, runId, type, description, fields }) => ({
      task_id: id,
      run_id: runId,
      task_type: type,
      ...(fields?.subagent_type !== undefined && { subagent_type: fields.subagent_type }),
      description,
    }));
    this.#emit({ type: 'system', subtype: 'background_tasks_changed', tasks });
    this.#settleChange();
  }

  #settleChange(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function ambient({ isAmbient }: NewTask): Frame {
  return isAmbient ? { ambient: true, skip_transcript: true } : {};
}

const STOPPED = 'stopped by the user or by the application';

const LABELS: Readonly<Record<TaskType, string>> = {
  local_agent: 'subagent',
  local_bash: 'shell',
  mcp_task: 'MCP task',
};

/** A new id for a task: a letter for its kind, and eight characters. */
export function newTaskId(prefix: string): string {
  return prefix + randomText(8);
}

function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('');
}

/** Run ids of one task sort by the time of their start. */
function newRunId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomText(8)}`;
}

function idsOf({ id, runId, toolUseId }: RunningTask, which?: 'only'): Frame {
  const ids = { task_id: id, run_id: runId };
  return which === 'only' || toolUseId === undefined ? ids : { ...ids, tool_use_id: toolUseId };
}

function endText(task: RunningTask, { status, summary, result, usage }: TaskEnd): string {
  return element([
    ['task-id', task.id],
    ...(task.toolUseId === undefined ? [] : [['tool-use-id', task.toolUseId] as const]),
    ['output-file', task.outputFile],
    ['status', status],
    ['summary', summary],
    ...(result === undefined ? [] : [['result', result] as const]),
    ...(usage === undefined ? [] : [['usage', usageText(usage)] as const]),
  ]);
}

function eventText(task: RunningTask, text: string): string {
  return element([
    ['task-id', task.id],
    ['summary', `Monitor event: "${task.description}"`],
    ['event', text],
  ]);
}

function usageText({ total_tokens, tool_uses, duration_ms }: TaskUsage): string {
  return `<subagent_tokens>${total_tokens}</subagent_tokens><tool_uses>${tool_uses}</tool_uses><duration_ms>${duration_ms}</duration_ms>`;
}

/** Output of commands and agents must not be able to end the element. */
function element(members: readonly (readonly [name: string, text: string])[]): string {
  const rows = members.map(([name, text]) => `<${name}>${name === 'usage' ? text : escaped(text)}</${name}>`);
  return ['<task-notification>', ...rows, '</task-notification>'].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll(MARKUP, '&lt;');
}

/** The beginning of a tag of a notification, also with look-alikes of the bracket and invisible characters after it. */
const MARKUP =
  /[<\uff1c\ufe64](?=[\s/\p{Cf}]*(?:task-notification|system-reminder|task-id|tool-use-id|output-file|status|summary|result|usage|event)\b)/giu;

function clipped(text: string): string {
  const more = text.length - MAX_HOOK_TEXT;
  return more > 0 ? truncate(text, MAX_HOOK_TEXT, `… [+${more} chars]`) : text;
}
