import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LockedReplace } from '../../base/files/file-lock.ts';
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

  /** The jobs that a session of this user has created. Their times are those of the record: the file may be restored or edited. */
  list(): Job[] {
    const approved = this.#approved();
    return readJobs(this.#path).flatMap(({ lastRunAt: _, ...job }) => {
      const known = approved[job.id];
      if (known?.fingerprint !== fingerprint(job)) return [];
      const { createdAt, lastRunAt } = known;
      return [{ ...job, createdAt, ...(lastRunAt !== undefined && { lastRunAt }) }];
    });
  }

  /** How many jobs of the file are not approved. */
  get unapprovedCount(): number {
    return readJobs(this.#path).length - this.list().length;
  }

  add(job: Job, details: Readonly<Record<string, unknown>>): void {
    const { id, createdAt, lastRunAt } = job;
    const known = { fingerprint: fingerprint(job), createdAt, ...(lastRunAt !== undefined && { lastRunAt }) };
    this.#change((tasks, approved) => ({
      tasks: [...tasks, { ...job, ...details }],
      approved: { ...approved, [id]: known },
    }));
  }

  /** Removes a job; false if there is no such job. */
  remove(id: string): boolean {
    const isKnown = this.list().some((job) => job.id === id);
    if (!isKnown) return false;
    this.#change((tasks, approved) => ({
      tasks: tasks.filter((task) => task.id !== id),
      approved: without(approved, id),
    }));
    return true;
  }

  /** Records a run before its prompt is sent, so that no process sends it again. False if another process was faster. */
  claim({ id, recurring }: Job, due: number): boolean {
    let isClaimed = false;
    this.#change((tasks, approved) => {
      const known = approved[id];
      if (!known || (known.lastRunAt ?? 0) >= due || !tasks.some((task) => task.id === id))
        return { tasks, approved };
      const recorded = () => {
        isClaimed = true;
      };
      if (!recurring)
        return { tasks: tasks.filter((task) => task.id !== id), approved: without(approved, id), recorded };
      return {
        tasks: tasks.map((task) => (task.id === id ? { ...task, lastRunAt: due } : task)),
        approved: { ...approved, [id]: { ...known, lastRunAt: due } },
        recorded,
      };
    });
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

  #change(change: (tasks: readonly Task[], approved: Approved) => Change): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    this.#lock.guarded((replace) => {
      const [before, approved] = [tasksIn(this.#path), this.#approved()];
      const changed = change(before, approved);
      // First the record: it decides whether a run is repeated.
      if (changed.approved !== approved) {
        this.#writeRecord(changed.approved, replace);
        changed.recorded?.();
      }
      if (changed.tasks !== before)
        replace(this.#path, `${JSON.stringify({ tasks: changed.tasks }, undefined, 2)}\n`, { mode: 0o644 });
    });
  }

  #approved(): Approved {
    const record = jsonOf(this.#record);
    if (!isRecord(record) || record.cwd !== this.#cwd || !isRecord(record.jobs)) return {};
    return Object.fromEntries(
      Object.entries(record.jobs).filter((entry): entry is [string, ApprovedJob] => isApprovedJob(entry[1])),
    );
  }

  #writeRecord(jobs: Approved, replace: LockedReplace): void {
    if (Object.keys(jobs).length === 0) {
      rmSync(this.#record, { force: true });
      return;
    }
    mkdirSync(dirname(this.#record), { recursive: true, mode: 0o700 });
    replace(this.#record, `${JSON.stringify({ cwd: this.#cwd, jobs })}\n`);
  }
}

/** A job as the file of the project contains it. */
type Task = Readonly<Record<string, unknown>>;

/** `recorded` is called once the record is written; the change may be computed again if the lock was lost before. */
type Change = { readonly tasks: readonly Task[]; readonly approved: Approved; recorded?(): void };

/** What the record of the user says about a job. */
type ApprovedJob = {
  readonly fingerprint: string;
  readonly createdAt: number;
  readonly lastRunAt?: number;
};

/** The approved jobs by their ids. */
type Approved = Readonly<Record<string, ApprovedJob>>;

function isApprovedJob(value: unknown): value is ApprovedJob {
  return (
    isRecord(value) &&
    typeof value.fingerprint === 'string' &&
    typeof value.createdAt === 'number' &&
    (value.lastRunAt === undefined || typeof value.lastRunAt === 'number')
  );
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

function without(approved: Approved, id: string): Approved {
  const { [id]: _, ...others } = approved;
  return others;
}

function fingerprint({ id, cron, prompt, recurring, timezone }: Omit<Job, 'lastRunAt'>): string {
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
