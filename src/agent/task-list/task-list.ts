import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type LockedReplace, withFileLock } from '../../base/files/file-lock.ts';
import { fileState } from '../../base/files/replace-file.ts';
import {
  type ChangedGraph,
  type Claim,
  changeTask,
  claimTask,
  parseTask,
  type Task,
  type TaskChange,
  type TaskGraph,
  withoutTask,
} from './task-graph.ts';

const LOCK = '.lock';
/** The highest id of a deleted task: ids are not used again. */
const HIGH_WATER_MARK = '.highwatermark';
const MAX_TASKS = 10_000;
/** Maximum size of a task, and of a file that is read as one. */
const MAX_TASK_BYTES = 256 * 1024;

export type NewTask = Pick<Task, 'subject' | 'description'> & {
  readonly activeForm?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
};

/** Why a task cannot be stored. */
type Refused = { readonly kind: 'refused'; readonly fault: string };

/**
 * A list of tasks in a directory: one file `<id>.json` per task. Several processes may use it at once: every change is
 * made while holding a lock file and based on what is stored then, and files are replaced atomically.
 */
export class TaskList {
  readonly directory: string;
  /** The tasks as read last; files are read again when they have changed. */
  #known = new Map<string, { readonly state: string; readonly task: Task | undefined }>();

  constructor(directory: string) {
    this.directory = directory;
  }

  create({ subject, description, activeForm, metadata }: NewTask): { kind: 'created'; task: Task } | Refused {
    return this.#change((graph, replace) => {
      if (graph.size >= MAX_TASKS) {
        return { kind: 'refused', fault: `The task list has ${MAX_TASKS} tasks; delete tasks that are done` };
      }
      const id = String(Math.max(this.#mark(), ...this.#ids()) + 1);
      const task: Task = {
        id,
        subject,
        description,
        ...(activeForm !== undefined && { activeForm }),
        status: 'pending',
        blocks: [],
        blockedBy: [],
        ...(metadata && { metadata }),
      };
      return this.#store([task], replace) ?? { kind: 'created', task };
    });
  }

  get(id: string): Task | undefined {
    return this.graph().get(id);
  }

  /** All tasks, by id and in the order of their ids. */
  graph(): TaskGraph {
    const read = this.#ids().flatMap((id) => this.#read(String(id)) ?? []);
    return new Map(read.map((task) => [task.id, task]));
  }

  update(id: string, change: TaskChange): ChangedGraph | Refused {
    return this.#change((graph, replace) => {
      const changed = changeTask(graph, id, change);
      return (changed.kind === 'changed' ? this.#store(changed.tasks, replace) : undefined) ?? changed;
    });
  }

  /** Deletes a task and all dependencies on it; returns the deleted task. */
  remove(id: string): Task | undefined {
    return this.#change((graph, replace) => {
      const task = graph.get(id);
      if (!task) return undefined;
      replace(join(this.directory, HIGH_WATER_MARK), String(Math.max(this.#mark(), Number(id))));
      this.#store(withoutTask(graph, id), replace);
      rmSync(this.#path(id), { force: true });
      return task;
    });
  }

  /** Makes the owner start a task. Of several owners that claim a task at the same time, one gets it. */
  claim(id: string, owner: string): Claim {
    return this.#change((graph, replace) => this.#keep(claimTask(graph, id, owner), replace));
  }

  /** Claims the first task that is pending, unblocked and without another owner; undefined if there is none. */
  claimNext(owner: string, except: ReadonlySet<string> = new Set()): Task | undefined {
    return this.#change((graph, replace) => {
      for (const id of graph.keys()) {
        if (except.has(id)) continue;
        const claim = claimTask(graph, id, owner);
        if (claim.kind !== 'claimed') continue;
        this.#keep(claim, replace);
        return claim.task;
      }
      return undefined;
    });
  }

  /** Completes a task that the owner has started; false if the task no longer has this owner. */
  complete(id: string, owner: string): boolean {
    return this.#endWork(owner, 'completed', id).length > 0;
  }

  /** Makes the tasks that the owner has started, or one of them, pending and without an owner; returns their ids. */
  release(owner: string, id?: string): readonly string[] {
    return this.#endWork(owner, 'pending', id);
  }

  #endWork(owner: string, status: 'completed' | 'pending', id?: string): readonly string[] {
    return this.#change((graph, replace) => {
      const started = [...graph.values()].filter(
        (task) =>
          task.status === 'in_progress' && task.owner === owner && (id === undefined || task.id === id),
      );
      this.#store(
        started.map((task) => withStatus(task, status)),
        replace,
      );
      return started.map((task) => task.id);
    });
  }

  #keep(claim: Claim, replace: LockedReplace): Claim {
    if (claim.kind === 'claimed') this.#store([claim.task], replace);
    return claim;
  }

  #change<T>(change: (graph: TaskGraph, replace: LockedReplace) => T): T {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    return withFileLock(join(this.directory, LOCK), (replace) => change(this.graph(), replace));
  }

  /** Stores the tasks, unless one of them is too large. */
  #store(tasks: readonly Task[], replace: LockedReplace): Refused | undefined {
    const texts = tasks.map((task) => [task.id, `${JSON.stringify(task, null, 2)}\n`] as const);
    const large = texts.find(([, text]) => Buffer.byteLength(text) > MAX_TASK_BYTES);
    if (large)
      return { kind: 'refused', fault: `Task #${large[0]} would exceed ${MAX_TASK_BYTES} bytes; shorten it` };
    for (const [id, text] of texts) replace(this.#path(id), text);
    return undefined;
  }

  #path(id: string): string {
    return join(this.directory, `${id}.json`);
  }

  /** The ids of all files, in order. */
  #ids(): number[] {
    try {
      const names = readdirSync(this.directory);
      const ids = names.flatMap((name) => /^([1-9]\d{0,8})\.json$/.exec(name)?.[1] ?? []);
      return ids.map(Number).toSorted((a, b) => a - b);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw cause;
    }
  }

  #mark(): number {
    try {
      const text = readFileSync(join(this.directory, HIGH_WATER_MARK), 'utf8').trim();
      return /^\d{1,9}$/.test(text) ? Number(text) : 0;
    } catch {
      return 0;
    }
  }

  /** A file that is not a task, or that was deleted meanwhile, is left out. */
  #read(id: string): Task | undefined {
    const path = this.#path(id);
    const state = fileState(path);
    const known = this.#known.get(id);
    if (known?.state === state) return known.task;
    const task = readTask(path, id);
    this.#known.set(id, { state, task });
    return task;
  }
}

/** A released task has no owner, so that anyone may claim it. */
function withStatus({ owner, ...task }: Task, status: 'completed' | 'pending'): Task {
  return status === 'pending' || owner === undefined ? { ...task, status } : { ...task, owner, status };
}

function readTask(path: string, id: string): Task | undefined {
  try {
    const found = statSync(path);
    if (!found.isFile() || found.size > MAX_TASK_BYTES) return undefined;
    return parseTask(JSON.parse(readFileSync(path, 'utf8')), id);
  } catch {
    return undefined;
  }
}
