import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { PermissionMode } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentStatus } from '../builtins/agents/agent-service.ts';
import type { TeamService } from '../builtins/agents/team-service.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import type { Lists } from '../task-list/lists.ts';
import type { Task } from '../task-list/task-graph.ts';
import { WorktreeError } from '../tasks/safe-git.ts';
import { directoryText } from '../tasks/session-worktree.ts';
import type { Worktree } from '../tasks/worktrees.ts';
import { Mailbox, type TeamMessage } from './mailbox.ts';
import type { TaskWorktrees } from './task-worktrees.ts';
import { LEAD, messageText, taskText, teamText } from './team-protocol.ts';

/** `stopped`: by a person, the lead or a shutdown request; `failed`: its run ended with an error. */
export type TeammateState = 'working' | 'idle' | 'stopped' | 'failed';

/** The agent of a teammate: where and how it runs. */
export type TeammateOptions = {
  readonly name: string;
  /** The id of the agent. */
  readonly id: string;
  readonly type: string;
  readonly mode?: PermissionMode | undefined;
  /** Whether the teammate works on each task in a git worktree of the task. */
  readonly isIsolated: boolean;
  /** Starts a run of an agent that does not run; false if that is not possible now. */
  wake(prompt: string): boolean;
};

export type TeammateDeps = {
  /** The directory of the team. */
  readonly directory: string;
  readonly lists: Lists;
  readonly worktrees: TaskWorktrees;
  sendToLead(message: TeamMessage): void;
  /** The state of the teammate has changed. */
  onChange(): void;
  /** Tasks may have become free for others. */
  onFreeTasks(): void;
};

/** How many times a teammate that ends its turn is reminded of its task. */
const MAX_REMINDERS = 1;
/** Maximum number of attempts to start a task whose worktree cannot be created. */
const MAX_STARTS = 3;

/** A named agent with a mailbox, which takes tasks from the task list whenever it has nothing else to do. */
export class Teammate implements TeamService {
  readonly options: TeammateOptions;
  readonly mailbox: Mailbox;
  /** The permission mode of the teammate's calls; undefined for that of the session. */
  mode: PermissionMode | undefined;
  state: TeammateState = 'idle';
  readonly #deps: TeammateDeps;
  #task: Task | undefined;
  #worktree: Worktree | undefined;
  /** Messages that the model has not answered. */
  #unanswered: string[] = [];
  /** How many times each task could not be started. */
  readonly #failures = new Map<string, number>();
  #reminders = 0;
  /** What happened to the teammate's tasks when it was stopped or failed. */
  readonly #news: string[] = [];
  #completed: string[] = [];
  #isIntroduced = false;
  #planRequest: string | undefined;
  #shutdownRequest: string | undefined;
  #isLeaving = false;
  /** The completion of a task, which ends even if the run is stopped. */
  #completing: Promise<unknown> = Promise.resolve();
  #enter: (worktree: Worktree | undefined) => void = () => {};

  constructor(options: TeammateOptions, deps: TeammateDeps) {
    this.options = options;
    this.mode = options.mode;
    this.#deps = deps;
    this.mailbox = new Mailbox(join(deps.directory, 'mail', options.name));
  }

  get name(): string {
    return this.options.name;
  }

  /** The task that the teammate works on. */
  get task(): Task | undefined {
    return this.#task;
  }

  get worktree(): Worktree | undefined {
    return this.#worktree;
  }

  /** Called when a run begins; returns the texts for its first message. `enter` moves the agent into a worktree. */
  async begin(
    enter: (worktree: Worktree | undefined) => void,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    this.state = 'working';
    this.#isLeaving = false;
    this.#enter = enter;
    this.#deps.onChange();
    const introduction = this.#isIntroduced ? [] : [teamText(this.name)];
    this.#isIntroduced = true;
    return [...introduction, ...this.#news.splice(0), ...(await this.#enterWorktree(signal))];
  }

  /** The messages that have arrived. They count as delivered once the model has answered. */
  takeMail(): readonly string[] {
    const taken = this.mailbox.take();
    this.#unanswered.push(...taken.map(({ id }) => id));
    for (const message of taken) this.#apply(message);
    return taken.map(messageText);
  }

  /** The model has answered a request with everything that was taken. */
  answered(): void {
    if (this.#unanswered.length > 0) this.mailbox.acknowledge(this.#unanswered.splice(0));
  }

  /** The text with which the teammate continues instead of ending its run; undefined if there is none. */
  async next(signal: AbortSignal): Promise<string | undefined> {
    const mail = this.takeMail();
    if (mail.length > 0) return mail.join('\n\n');
    if (this.#isLeaving) return undefined;
    const task = this.#currentTask();
    if (task) {
      if (this.#planRequest !== undefined || this.#reminders++ >= MAX_REMINDERS) return undefined;
      return `Task #${task.id} is still in progress. If it is done, call CompleteTask; otherwise go on. If you wait for an answer, end your turn.`;
    }
    const claimed = this.#claimNext();
    if (claimed === undefined) return undefined;
    const texts = await this.#enterWorktree(signal);
    return [...(this.#task ? [claimed] : []), ...texts].join('\n\n');
  }

  /** Makes an agent that was stopped look for work again. */
  resume(): void {
    if (this.state !== 'working') this.state = 'idle';
    this.poll();
  }

  /** Starts a run if the teammate is idle and has messages or a free task. */
  poll(): void {
    if (this.state !== 'idle') return;
    const mail = this.takeMail();
    const prompt = mail.length > 0 ? mail.join('\n\n') : this.#currentTask() ? undefined : this.#claimNext();
    if (prompt === undefined || this.options.wake(prompt)) return;
    this.#giveBackMail();
    this.#release();
  }

  /** Settles when nothing of a run that has ended is in progress any more. */
  async settled(): Promise<void> {
    await this.#completing;
    if (this.#worktree && this.state === 'working') await this.#deps.worktrees.keep(this.#worktree);
  }

  /** Called when a run has ended. A task of an agent that was stopped or has failed goes back to the list. */
  ended(status: AgentStatus): void {
    this.#giveBackMail();
    const completed = this.#completed.splice(0);
    if (status === 'completed' && !this.#isLeaving) {
      this.state = 'idle';
      const task = this.#currentTask();
      if (completed.length > 0 || task) this.#report(idleText(completed, task));
    } else {
      this.state = status === 'failed' ? 'failed' : 'stopped';
      const released = this.#release();
      this.#news.push(
        ...completed.map((id) => `Task #${id} is completed.`),
        ...released.map((id) => `Task #${id} is no longer assigned to you.`),
      );
      this.#report(endText(status, released));
    }
    this.#deps.onChange();
    this.#deps.onFreeTasks();
  }

  /** Receives a request or an answer of the lead; returns why it is not accepted. */
  fault({ kind, requestId }: Pick<TeamMessage, 'kind' | 'requestId'>): string | undefined {
    if (kind !== 'plan_approval_response' || requestId === this.#planRequest) return undefined;
    return `“${this.name}” has no open plan with the request_id “${requestId ?? ''}”; use the request_id of its last plan`;
  }

  /** Sends an answer to a shutdown request; returns why that is not possible. */
  answerShutdown(requestId: string | undefined, isApproved: boolean): string | undefined {
    if (this.#shutdownRequest === undefined || requestId !== this.#shutdownRequest)
      return `there is no open shutdown request with the request_id “${requestId ?? ''}”; use the request_id of the lead's request`;
    this.#shutdownRequest = undefined;
    this.#isLeaving = isApproved;
    return undefined;
  }

  async claim(taskId: string | undefined, signal: AbortSignal): Promise<ToolOutcome> {
    const { tasks } = this.#deps.lists;
    const current = this.#currentTask();
    if (current) return failedOutcome(`Task #${current.id} is still in progress: complete it first`);
    if (taskId !== undefined) {
      const claim = tasks.claim(taskId, this.name);
      if (claim.kind !== 'claimed') return failedOutcome(claimFault(taskId, claim));
      this.#begun(claim.task);
    } else if (this.#claimNext() === undefined) return failedOutcome(NO_TASK);
    const { task } = this;
    if (!task) return failedOutcome(NO_TASK);
    const texts = await this.#enterWorktree(signal);
    // The worktree could not be created.
    if (this.#task === undefined) return failedOutcome(texts.join('\n'));
    return succeeded([taskText(task), ...texts].join('\n\n'), task);
  }

  complete(taskId: string | undefined, signal: AbortSignal): Promise<ToolOutcome> {
    const done = this.#complete(taskId, signal);
    this.#completing = done.catch(() => {});
    return done;
  }

  submitPlan(plan: string): ToolOutcome {
    const requestId = `plan-${randomUUID().slice(0, 8)}`;
    this.#planRequest = requestId;
    this.#deps.sendToLead({
      id: randomUUID(),
      from: this.name,
      kind: 'plan_submission',
      text: plan,
      requestId,
    });
    return succeeded(
      `The plan was sent to the lead (request_id ${requestId}). End your turn; the answer arrives as a message.`,
      { request_id: requestId },
    );
  }

  async #complete(taskId: string | undefined, signal: AbortSignal): Promise<ToolOutcome> {
    const { lists, worktrees } = this.#deps;
    const task = this.#currentTask();
    if (!task || (taskId !== undefined && taskId !== task.id))
      return failedOutcome(
        taskId === undefined
          ? 'You have no task in progress: claim one with ClaimTask'
          : `Task #${taskId} is not your task in progress: complete the task that you have claimed with ClaimTask`,
      );
    const objection = await lists.completionFault(task, signal);
    if (objection !== undefined) return failedOutcome(objection);
    signal.throwIfAborted();
    const worktree = this.#worktree;
    const fault = worktree && (await worktrees.merge(task, worktree));
    if (fault !== undefined) return failedOutcome(`Task #${task.id} is not completed: ${fault}`);
    if (!lists.tasks.complete(task.id, this.name))
      return failedOutcome(
        `Task #${task.id} is not completed: it is no longer assigned to you; claim a task with ClaimTask`,
      );
    this.#completed.push(task.id);
    this.#task = undefined;
    this.#worktree = undefined;
    if (worktree) {
      this.#enter(undefined);
      await worktrees.remove(worktree);
    }
    this.#deps.onChange();
    this.#deps.onFreeTasks();
    return succeeded(`Task #${task.id} completed: ${task.subject}`, { taskId: task.id, status: 'completed' });
  }

  /** The task in progress, unless another agent or the user has taken it away. */
  #currentTask(): Task | undefined {
    const stored = this.#task && this.#deps.lists.tasks.get(this.#task.id);
    if (stored?.status === 'in_progress' && stored.owner === this.name) return stored;
    if (this.#worktree) {
      void this.#deps.worktrees.keep(this.#worktree);
      this.#enter(undefined);
    }
    this.#task = undefined;
    this.#worktree = undefined;
    return undefined;
  }

  #claimNext(): string | undefined {
    const failed = [...this.#failures].flatMap(([id, count]) => (count < MAX_STARTS ? [] : [id]));
    const task = this.#deps.lists.tasks.claimNext(this.name, new Set(failed));
    if (!task) return undefined;
    this.#begun(task);
    return taskText(task);
  }

  #begun(task: Task): void {
    this.#task = task;
    this.#reminders = 0;
    this.#deps.onChange();
  }

  /** Moves the agent into the worktree of its task; a task whose worktree cannot be created is released. */
  async #enterWorktree(signal: AbortSignal): Promise<readonly string[]> {
    const task = this.#task;
    if (!task || !this.options.isIsolated || this.#worktree) return [];
    try {
      const { worktree, isMerged } = await this.#deps.worktrees.open(task, signal);
      this.#worktree = worktree;
      this.#enter(worktree);
      const note =
        worktree.origin === 'resumed'
          ? [`It contains earlier work on the task. ${isMerged ? MERGED : ''}`.trim()]
          : [];
      return [[directoryText(worktree.path, undefined, true), ...note].join('\n')];
    } catch (cause) {
      if (!(cause instanceof WorktreeError)) throw cause;
      this.#failures.set(task.id, (this.#failures.get(task.id) ?? 0) + 1);
      this.#release();
      const text = `Task #${task.id} is no longer assigned to you, because it could not be started: ${messageOf(cause)}`;
      this.#report(text);
      return [text];
    }
  }

  #release(): readonly string[] {
    this.#task = undefined;
    this.#worktree = undefined;
    return this.#deps.lists.tasks.release(this.name);
  }

  #giveBackMail(): void {
    this.mailbox.giveBack(this.#unanswered.splice(0));
  }

  #apply({ kind, requestId, isApproved }: TeamMessage): void {
    if (kind === 'shutdown_request') this.#shutdownRequest = requestId;
    if (kind !== 'plan_approval_response' || requestId !== this.#planRequest) return;
    this.#planRequest = undefined;
    if (isApproved === true && this.mode === 'plan') this.mode = undefined;
  }

  #report(text: string): void {
    this.#deps.sendToLead({ id: randomUUID(), from: this.name, kind: 'idle', text });
  }
}

const NO_TASK = 'No task is free: all are completed, in progress, or blocked by others';
const MERGED = 'All of it is merged already: if nothing is missing, call CompleteTask at once.';

function claimFault(
  taskId: string,
  claim: Exclude<ReturnType<Lists['tasks']['claim']>, { kind: 'claimed' }>,
): string {
  switch (claim.kind) {
    case 'missing':
      return `There is no task #${taskId}`;
    case 'blocked':
      return `Task #${taskId} cannot be claimed: it is blocked by #${claim.by.join(', #')}`;
    case 'taken':
      return `Task #${taskId} cannot be claimed: it is ${claim.task.status}${claim.task.owner === undefined ? '' : `, owner ${claim.task.owner}`}`;
  }
}

function idleText(completed: readonly string[], task: Task | undefined): string {
  return [
    'This agent is idle.',
    ...(completed.length > 0 ? [`Completed tasks: #${completed.join(', #')}.`] : []),
    ...(task ? [`Task #${task.id} is still in progress.`] : ['No task is free for this agent.']),
  ].join(' ');
}

function endText(status: AgentStatus, released: readonly string[]): string {
  const how = status === 'killed' ? 'was stopped' : status === 'failed' ? 'has failed' : 'has ended its work';
  const [tasks, are] = released.length === 1 ? ['Task', 'is'] : ['Tasks', 'are'];
  const free = released.length > 0 ? ` ${tasks} #${released.join(', #')} ${are} free again.` : '';
  return `This agent ${how}.${free} The agent takes no tasks until it gets a message.`;
}

function succeeded(content: string, programResult: unknown): ToolOutcome {
  return { content, isError: false, programResult };
}

/** The service of the lead, which works on tasks without worktrees of their own. */
export function leadService(lists: Lists, onChange: () => void): TeamService {
  let current: string | undefined;
  return {
    async claim(taskId) {
      const id = taskId ?? lists.tasks.claimNext(LEAD)?.id;
      if (id === undefined) return failedOutcome(NO_TASK);
      const claim = taskId === undefined ? undefined : lists.tasks.claim(id, LEAD);
      if (claim && claim.kind !== 'claimed') return failedOutcome(claimFault(id, claim));
      const task = lists.tasks.get(id);
      if (!task) return failedOutcome(`There is no task #${id}`);
      current = id;
      onChange();
      return succeeded(taskText(task), task);
    },
    async complete(taskId, signal) {
      const id = taskId ?? current;
      const task = id === undefined ? undefined : lists.tasks.get(id);
      const fault = task && (await lists.completionFault(task, signal));
      if (fault !== undefined) return failedOutcome(fault);
      if (!task || !lists.tasks.complete(task.id, LEAD))
        return failedOutcome(
          id === undefined
            ? 'You have no task in progress: claim one with ClaimTask'
            : `Task #${id} is not your task in progress: claim it with ClaimTask first`,
        );
      current = undefined;
      onChange();
      return succeeded(`Task #${task.id} completed: ${task.subject}`, {
        taskId: task.id,
        status: 'completed',
      });
    },
    submitPlan: () => failedOutcome('The lead submits no plans: show the plan to the user with ExitPlanMode'),
  };
}
