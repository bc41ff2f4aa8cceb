import { statSync } from 'node:fs';
import type { Clock } from '../../base/async/timers.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { DurableJobs, type Job, scheduledProjects } from './schedule-store.ts';
import { type JobState, jobState } from './schedule-time.ts';

/** How often the jobs are read again, which sessions change. */
const POLL_MS = 5_000;
const MAX_RUNNING = 4;
/** A run that takes longer is ended, so that it does not block the jobs of its project. */
const MAX_RUN_MS = 2 * 60 * 60 * 1000;

/** A run of a durable job. */
export type JobRun = {
  /** The directory of the project. */
  readonly project: string;
  readonly job: Job;
  readonly due: number;
};

/** How the session of a run ended. */
export type RunOutcome =
  | {
      readonly kind: 'finished';
      readonly session?: string;
      readonly result: string;
      /** The tools whose calls were denied. */
      readonly denied: readonly string[];
    }
  | { readonly kind: 'failed'; readonly session?: string; readonly error: string };

export type RunnerEvent =
  | { readonly kind: 'started'; readonly run: JobRun }
  | {
      readonly kind: 'ended';
      readonly run: JobRun;
      readonly outcome: RunOutcome;
      readonly durationMs: number;
    }
  /** The job was due at earlier times, `count` in all. One run, which starts now, takes their place. */
  | { readonly kind: 'missed'; readonly run: JobRun; readonly since: number; readonly count: number }
  | { readonly kind: 'expired'; readonly project: string; readonly job: Job }
  /** The jobs of a project cannot run. Reported once, until they can again. */
  | { readonly kind: 'skipped'; readonly project: string; readonly reason: string };

type RunnerDeps = {
  readonly clock: Clock;
  /** The directory with the records of all projects. */
  readonly home: string;
  /** Runs a prompt in a session of its own; an abort ends the session. */
  run(run: JobRun, signal: AbortSignal): Promise<RunOutcome>;
  onEvent(event: RunnerEvent): void;
};

/**
 * Runs the durable jobs of all projects of a user while no session does: a project whose jobs a live session fires is
 * left to that session. One job of a project runs at a time, and a few projects at once.
 */
export class ScheduleRunner implements AsyncDisposable {
  readonly #deps: RunnerDeps;
  /** The runs by their project. */
  readonly #running = new Map<string, Promise<void>>();
  /** Why a project is skipped. */
  readonly #skipped = new Map<string, string>();
  readonly #ended = new AbortController();
  #cancelTimer: (() => void) | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** Runs what is due, and then each job at its times. */
  start(): void {
    this.#plan();
  }

  /** The jobs of the projects that exist. */
  get jobCount(): number {
    const { home } = this.#deps;
    const counts = scheduledProjects(home).map((project) => new DurableJobs(project, home).list().length);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Ends the running sessions. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelTimer?.();
    this.#ended.abort(new Error('the daemon was ended'));
    await Promise.all(this.#running.values());
  }

  #plan(): void {
    this.#cancelTimer?.();
    if (this.#ended.signal.aborted) return;
    const { clock, home } = this.#deps;
    let next = clock.now() + POLL_MS;
    for (const project of scheduledProjects(home)) {
      try {
        const at = this.#planProject(project);
        if (at !== undefined) next = Math.min(next, at);
      } catch (cause) {
        this.#skip(project, `its scheduled jobs cannot be read: ${messageOf(cause)}`);
      }
    }
    this.#cancelTimer = clock.after(Math.max(next - clock.now(), 0), () => this.#plan());
  }

  /** Starts the job of a project that is due for the longest time; returns when the next one is due, if none is now. */
  #planProject(project: string): number | undefined {
    if (this.#running.has(project)) return undefined;
    if (!statSync(project, { throwIfNoEntry: false })?.isDirectory()) {
      this.#skip(project, 'the directory does not exist');
      return undefined;
    }
    const { clock, home } = this.#deps;
    const jobs = new DurableJobs(project, home);
    const now = clock.now();
    const all = jobs.list().map((job) => ({ job, state: jobState(job, now) }));
    this.#skipped.delete(project);
    const waiting = all.flatMap(({ state }) => (state.kind === 'waiting' ? state.at : []));
    const isIdle = waiting.length === all.length;
    if (isIdle || this.#running.size >= MAX_RUNNING || !jobs.own())
      return isIdle ? Math.min(...waiting) : undefined;
    for (const { job, state } of all) {
      if (state.kind !== 'expired') continue;
      jobs.remove(job.id);
      this.#deps.onEvent({ kind: 'expired', project, job });
    }
    const [first] = all.flatMap(isDue).sort((a, b) => a.state.due - b.state.due);
    if (!first || !jobs.claim(first.job, first.state.due)) {
      jobs.release();
      return undefined;
    }
    if (first.state.isLast) jobs.remove(first.job.id);
    this.#begin({ project, job: first.job, due: first.state.due }, first.state, jobs);
    return undefined;
  }

  #begin(run: JobRun, { isLate, first, missed }: DueState, jobs: DurableJobs): void {
    const { onEvent } = this.#deps;
    if (isLate) onEvent({ kind: 'missed', run, since: first, count: missed + 1 });
    onEvent({ kind: 'started', run });
    const work = this.#run(run).finally(() => {
      this.#running.delete(run.project);
      jobs.release();
      this.#plan();
    });
    this.#running.set(run.project, work);
  }

  async #run(run: JobRun): Promise<void> {
    const { clock, onEvent } = this.#deps;
    const startedAt = clock.now();
    const limit = new AbortController();
    const cancelLimit = clock.after(MAX_RUN_MS, () =>
      limit.abort(new Error(`the run took longer than ${MAX_RUN_MS / 3_600_000} hours and was ended`)),
    );
    const signal = AbortSignal.any([limit.signal, this.#ended.signal]);
    let outcome: RunOutcome;
    try {
      const found = await this.#deps.run(run, signal);
      const isEnded = signal.aborted && found.kind === 'failed';
      outcome = isEnded ? { ...found, error: messageOf(signal.reason) } : found;
    } catch (cause) {
      outcome = { kind: 'failed', error: messageOf(signal.aborted ? signal.reason : cause) };
    } finally {
      cancelLimit();
    }
    onEvent({ kind: 'ended', run, outcome, durationMs: clock.now() - startedAt });
  }

  #skip(project: string, reason: string): void {
    if (this.#skipped.get(project) === reason) return;
    this.#skipped.set(project, reason);
    this.#deps.onEvent({ kind: 'skipped', project, reason });
  }
}

type DueState = Extract<JobState, { kind: 'due' }>;
type Known = { readonly job: Job; readonly state: JobState };

function isDue({ job, state }: Known): { readonly job: Job; readonly state: DueState }[] {
  return state.kind === 'due' ? [{ job, state }] : [];
}
