import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { withExclusiveLock } from '../../base/files/file-lock.ts';
import type { Task } from '../task-list/task-graph.ts';
import type { TaskList } from '../task-list/task-list.ts';
import { WorktreeError } from '../tasks/safe-git.ts';
import type { Worktree, Worktrees } from '../tasks/worktrees.ts';

/** How long the merge of a task may take: it ends even if its agent is stopped. */
const MERGE_MS = 5 * 60_000;

type TaskWorktreesDeps = {
  readonly worktrees: Worktrees;
  tasks(): TaskList;
  /** The directory for the lock under which branches are merged. */
  lockDirectory(): string;
};

/**
 * The git worktrees of tasks, one per task: the agent that continues a released task finds the work of its former
 * owner. A task is merged into the checked-out branch when it is completed.
 */
export class TaskWorktrees {
  readonly #deps: TaskWorktreesDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: TaskWorktreesDeps) {
    this.#deps = deps;
  }

  /** The worktree of a task, which is created if it does not exist. */
  async open(
    task: Task,
    signal: AbortSignal,
  ): Promise<{ readonly worktree: Worktree; readonly isMerged: boolean }> {
    const { worktrees } = this.#deps;
    const worktree = await worktrees.create(this.#nameOf(task), 'agent', signal);
    const isResumed = worktree.origin === 'resumed';
    return { worktree, isMerged: isResumed && (await worktrees.isMerged(worktree, signal)) };
  }

  /** Commits and merges the work on a task; returns why that is not possible. */
  merge(task: Task, worktree: Worktree): Promise<string | undefined> {
    const { worktrees } = this.#deps;
    const signal = AbortSignal.timeout(MERGE_MS);
    const merge = async () => {
      if (worktree.origin === 'hook') return undefined;
      await worktrees.commitAll(worktree, `Task #${task.id}: ${task.subject}`, signal);
      const end = await worktrees.merge(worktree, signal);
      if (end.kind === 'blocked')
        return `the checkout of the user cannot take its changes, because ${end.why} there: leave that as it is, tell the user, and call CompleteTask again when the user has finished or aborted it`;
      if (end.kind !== 'conflict') return undefined;
      return `its changes conflict with the checked-out branch in ${end.files.join(', ')}: merge that branch into ${worktree.branch ?? 'the branch of the worktree'}, resolve the conflicts, and call CompleteTask again`;
    };
    return this.#inTurn(async () => {
      try {
        return await withExclusiveLock(join(this.#deps.lockDirectory(), 'merge.lock'), merge, { signal });
      } catch (cause) {
        if (cause instanceof WorktreeError) return cause.message;
        throw cause;
      }
    });
  }

  /** Removes the worktree of a completed task; what git refuses to remove stays. */
  async remove(worktree: Worktree): Promise<void> {
    await this.#deps.worktrees.release(worktree).catch(() => {});
  }

  /** Lets others continue the work. */
  async keep(worktree: Worktree): Promise<void> {
    await this.#deps.worktrees.keep(worktree).catch(() => {});
  }

  /** One merge after the other: each takes the lock of the index. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => {});
    return done;
  }

  /**
   * The name of the worktree of a task. It depends on the task list, because other lists have tasks with the same ids.
   */
  #nameOf({ id }: Task): string {
    const list = createHash('sha256').update(this.#deps.tasks().directory).digest('hex').slice(0, 8);
    return `task-${list}-${id}`;
  }
}
