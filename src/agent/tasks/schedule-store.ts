import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../base/files/replace-file.ts';
import { isRecord } from '../../base/json-value.ts';
import { ProcessLock } from './process-owner.ts';
import { isCronExpression, isTimeZone } from './schedule-time.ts';

/** A prompt that is sent at times. */
export type Job = {
  readonly id: string;
  readonly cron: string;
  readonly prompt: string;
  readonly recurring: boolean;
  readonly createdAt: number;
  /** The time zone of the expression; by default that of the system. */
  readonly timezone?: string;
  /** The run that fired last. */
  readonly lastRunAt?: number;
  /** Made by `ScheduleWakeup`. */
  readonly isWakeup?: true;
};

const MAX_JOBS = 50;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** The jobs in a file of a session, or undefined if it has none. */
export function readJobs(path: string): Job[] {
  return tasksIn(path)
    .flatMap((task) => parseJob(task) ?? [])
    .slice(0, MAX_JOBS);
}

export function writeJobs(path: string, jobs: readonly Job[]): void {
  if (jobs.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, `${JSON.stringify({ tasks: jobs }, undefined, 2)}\n`);
}

/**
 * The durable jobs of a project, in `.claude/scheduled_tasks.json`, which several processes share. A repository may
 * contain such a file: only jobs that a session of this user has created are used; a file in the user's home records them.
 */
export class DurableJobs {
  readonly #path: string;
  readonly #lock: ProcessLock;
  readonly #record: string;
  readonly #cwd: string;

  /** `home` has the records of all projects. */
  constructor(cwd: string, home: string) {
    const name = createHash('sha256').update(cwd).digest('hex').slice(0, 32);
    this.#cwd = cwd;
    this.#path = join(cwd, '.claude', 'scheduled_tasks.json');
    this.#lock = new ProcessLock(join(cwd, '.claude', 'scheduled_tasks.lock'));
    this.#record = join(home, `${name}.json`);
  }

  /** The jobs that a session of this user has created. */
  list(): Job[] {
    const approved = this.#approved();
    return readJobs(this.#path).filter((job) => approved[job.id] === fingerprint(job));
  }

  /** How many jobs of the file are not approved. */
  get unapprovedCount(): number {
    return readJobs(this.#path).length - this.list().length;
  }

  add(job: Job, details: Readonly<Record<string, unknown>>): void {
    this.#change(
      (tasks) => [...tasks, { ...job, ...details }],
      (approved) => ({ ...approved, [job.id]: fingerprint(job) }),
    );
  }

  /** Removes a job; false if there is no such job. */
  remove(id: string): boolean {
    const isKnown = this.list().some((job) => job.id === id);
    if (!isKnown) return false;
    this.#change(
      (tasks) => tasks.filter((task) => task.id !== id),
      (approved) => without(approved, id),
    );
    return true;
  }

  /** Records a run before its prompt is sent, so that no process sends it again. False if another process was faster. */
  claim({ id, recurring }: Job, due: number): boolean {
    let isClaimed = false;
    this.#change(
      (tasks) =>
        tasks.flatMap((task) => {
          if (task.id !== id || (typeof task.lastRunAt === 'number' && task.lastRunAt >= due)) return [task];
          isClaimed = true;
          return recurring ? [{ ...task, lastRunAt: due }] : [];
        }),
      // A job that has run is approved no longer, even if an older state of the file is restored.
      (approved) => (isClaimed && !recurring ? without(approved, id) : approved),
    );
    return isClaimed;
  }

  /** Whether this process fires the jobs of the project: one process does at a time. */
  own(): boolean {
    return readJobs(this.#path).length > 0 && this.#lock.take();
  }

  /** Lets another process fire the jobs. */
  release(): void {
    this.#lock.release();
  }

  #change(
    changeTasks: (tasks: readonly Record<string, unknown>[]) => Record<string, unknown>[],
    changeApproved: (approved: Record<string, unknown>) => Record<string, unknown>,
  ): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    this.#lock.guarded(() => {
      const tasks = changeTasks(tasksIn(this.#path));
      replaceFile(this.#path, `${JSON.stringify({ tasks }, undefined, 2)}\n`, { mode: 0o644 });
      const approved = this.#approved();
      const changed = changeApproved(approved);
      if (changed !== approved) this.#writeRecord(changed);
    });
  }

  #approved(): Record<string, unknown> {
    const record = jsonOf(this.#record);
    return isRecord(record) && record.cwd === this.#cwd && isRecord(record.jobs) ? record.jobs : {};
  }

  #writeRecord(jobs: Readonly<Record<string, unknown>>): void {
    if (Object.keys(jobs).length === 0) {
      rmSync(this.#record, { force: true });
      return;
    }
    mkdirSync(dirname(this.#record), { recursive: true, mode: 0o700 });
    replaceFile(this.#record, `${JSON.stringify({ cwd: this.#cwd, jobs })}\n`);
  }
}

/** The directories of projects with durable jobs of this user. */
export function scheduledProjects(home: string): string[] {
  let names: string[];
  try {
    names = readdirSync(home);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const record = name.endsWith('.json') ? jsonOf(join(home, name)) : undefined;
    return isRecord(record) && typeof record.cwd === 'string' ? [record.cwd] : [];
  });
}

function without(record: Readonly<Record<string, unknown>>, id: string): Record<string, unknown> {
  const { [id]: _, ...others } = record;
  return others;
}

function fingerprint({ id, cron, prompt, recurring, timezone }: Job): string {
  const text = JSON.stringify([id, cron, prompt, recurring, timezone ?? null]);
  return createHash('sha256').update(text).digest('hex');
}

function parseJob(task: Record<string, unknown>): Job | undefined {
  const { id, cron, prompt, createdAt, recurring, timezone, lastRunAt, isWakeup } = task;
  if (typeof id !== 'string' || !/^[0-9a-f]{8}$/.test(id)) return undefined;
  if (typeof cron !== 'string' || !isCronExpression(cron)) return undefined;
  if (typeof prompt !== 'string' || typeof createdAt !== 'number') return undefined;
  const hasZone = typeof timezone === 'string' && isTimeZone(timezone);
  return {
    ...{ id, cron, prompt, createdAt, recurring: recurring === true },
    ...(hasZone && { timezone }),
    ...(typeof lastRunAt === 'number' && { lastRunAt }),
    ...(isWakeup === true && { isWakeup }),
  };
}

function tasksIn(path: string): Record<string, unknown>[] {
  const content = jsonOf(path);
  return isRecord(content) && Array.isArray(content.tasks) ? content.tasks.filter(isRecord) : [];
}

function jsonOf(path: string): unknown {
  try {
    return JSON.parse(textOf(path));
  } catch {
    return undefined;
  }
}

/** The text of a file; empty if the file is missing, not regular or too large. */
function textOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= MAX_FILE_BYTES ? readFileSync(path, 'utf8') : '';
}
