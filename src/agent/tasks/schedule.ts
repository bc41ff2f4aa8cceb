import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/async/timers.ts';
import { truncate } from '../../base/text/display-text.ts';
import type { SessionCronSummary } from '../../protocol/hook.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ScheduleWakeupOutput } from '../../protocol/tools/task-tools.ts';
import type { Moment, NoticeBatch, NoticeSource } from './notices.ts';
import { type DurableJobs, type Job, readJobs, writeJobs } from './schedule-store.ts';
import {
  humanSchedule,
  isCronExpression,
  isTimeZone,
  jobState,
  nextFiring,
  nextRun,
} from './schedule-time.ts';

const MINUTE_MS = 60_000;
/** How often the durable jobs are read again, which other processes change. */
const POLL_MS = 30_000;
const MAX_JOBS = 50;
const MIN_WAKEUP_S = 60;
const MAX_WAKEUP_S = 3_600;
const MAX_HOOK_TEXT = 1_000;

/** A job, and when it fires next. */
export type ListedJob = Job & { readonly isDurable: boolean; readonly nextFireAt?: number };

export type NewJob = {
  readonly cron: string;
  readonly prompt: string;
  readonly recurring: boolean;
  readonly durable: boolean;
  readonly timezone?: string | undefined;
};

type ScheduleDeps = {
  readonly clock: Clock;
  /** The jobs that outlive sessions; without it, jobs belong to the session. */
  readonly durable?: DurableJobs | undefined;
  /** The file with the jobs of the session; undefined for a session that is not stored. */
  sessionFile(): string | undefined;
  /** What is recorded with a durable job. */
  details(): Readonly<Record<string, unknown>>;
  /** Called when a prompt is due. */
  onNotice(): void;
  note(text: string): void;
};

/** The scheduled prompts of a session. They enter the conversation one by one, while no turn runs. */
export class Schedule implements NoticeSource, AsyncDisposable {
  readonly #deps: ScheduleDeps;
  #jobs: Job[] = [];
  /** Prompts that are due, by the id of their job: a job is never due twice. */
  readonly #due = new Map<string, string>();
  #cancelTimer: (() => void) | undefined;
  #isEnded = false;

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
    const file = deps.sessionFile();
    if (file !== undefined) this.#jobs = readJobs(file);
    const unapproved = deps.durable?.unapprovedCount ?? 0;
    if (unapproved > 0)
      deps.note(
        `${unapproved} scheduled ${unapproved === 1 ? 'job' : 'jobs'} of .claude/scheduled_tasks.json will not run, because no session of this user created them; schedule them again, or remove them from the file`,
      );
  }

  /** Fires what is due, and waits for the next run. */
  start(): void {
    if (this.#all().length > 0) this.#plan();
  }

  /** The error of a new job, or the job. */
  create(job: NewJob): ListedJob | { readonly fault: string } {
    const { cron, prompt, recurring, durable, timezone } = job;
    const { clock } = this.#deps;
    if (!isCronExpression(cron))
      return { fault: `Invalid cron expression '${cron}'. Expected 5 fields: M H DoM Mon DoW.` };
    if (timezone !== undefined && !isTimeZone(timezone))
      return { fault: `Unknown time zone '${timezone}'. Use an IANA name such as Europe/Berlin.` };
    if (nextRun(cron, clock.now(), timezone) === undefined)
      return { fault: `Cron expression '${cron}' does not match any calendar date in the next year.` };
    if (this.#all().length >= MAX_JOBS)
      return { fault: `Too many scheduled jobs (max ${MAX_JOBS}). Cancel one first.` };
    const zone = timezone === undefined ? {} : { timezone };
    const made: Job = { id: newId(), cron, prompt, recurring, createdAt: clock.now(), ...zone };
    const isDurable = durable && this.#deps.durable !== undefined;
    if (isDurable) this.#deps.durable?.add(made, this.#deps.details());
    else this.#change([...this.#jobs, made]);
    this.#plan();
    return this.#listed(made, isDurable);
  }

  /** The durable jobs, then those of the session. */
  list(): ListedJob[] {
    return this.#all().map(({ job, isDurable }) => this.#listed(job, isDurable));
  }

  /** The removed job; undefined if there is none with this id. */
  remove(id: string): Job | undefined {
    const found = this.#all().find(({ job }) => job.id === id);
    if (!found) return undefined;
    if (found.isDurable) this.#deps.durable?.remove(id);
    else this.#change(this.#jobs.filter((job) => job.id !== id));
    this.#due.delete(id);
    this.#plan();
    return found.job;
  }

  /** Schedules a prompt at a full minute from 60 to 3600 seconds from now, in place of an earlier wake-up. */
  wakeUp(seconds: number, prompt: string): ScheduleWakeupOutput {
    const asked = Math.round(seconds);
    const clamped = Math.min(Math.max(asked, MIN_WAKEUP_S), MAX_WAKEUP_S);
    const now = this.#deps.clock.now();
    const scheduledFor = Math.ceil((now + clamped * 1000) / MINUTE_MS) * MINUTE_MS;
    const at = new Date(scheduledFor);
    const cron = `${at.getMinutes()} ${at.getHours()} * * *`;
    const job: Job = {
      id: newId(),
      cron,
      prompt,
      recurring: false,
      createdAt: scheduledFor - 1,
      isWakeup: true,
    };
    this.#change([...this.#jobs.filter(({ isWakeup }) => !isWakeup), job]);
    this.#plan();
    return { scheduledFor, clampedDelaySeconds: clamped, wasClamped: clamped !== asked };
  }

  /** Removes the wake-up; returns how many there were. */
  stopWakeUps(): number {
    const kept = this.#jobs.filter(({ isWakeup }) => !isWakeup);
    const count = this.#jobs.length - kept.length;
    if (count > 0) this.#change(kept);
    return count;
  }

  /** The recurring and later jobs of the session, for Stop hooks. */
  get summaries(): SessionCronSummary[] {
    return this.#jobs.map(({ id, cron, recurring, prompt }) => ({
      ...{ id, schedule: cron, recurring },
      prompt: truncate(prompt, MAX_HOOK_TEXT, '…'),
    }));
  }

  get hasNotices(): boolean {
    return this.#due.size > 0;
  }

  /** One prompt, which gets a turn of its own. */
  take(moment: Moment): NoticeBatch | undefined {
    if (moment !== 'idle') return undefined;
    const [first] = this.#due;
    if (!first) return undefined;
    const [id, text] = first;
    this.#due.delete(id);
    return {
      notices: [{ text }],
      channelMessages: [],
      stored() {},
      // The run is recorded: a prompt that was interrupted is not sent again.
      dropped() {},
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    this.#cancelTimer?.();
    this.#deps.durable?.release();
  }

  #all(): { readonly job: Job; readonly isDurable: boolean }[] {
    const durable = this.#deps.durable?.list() ?? [];
    return [
      ...durable.map((job) => ({ job, isDurable: true })),
      ...this.#jobs.map((job) => ({ job, isDurable: false })),
    ];
  }

  #listed(job: Job, isDurable: boolean): ListedJob {
    const now = this.#deps.clock.now();
    const planned = nextFiring(job, sinceOf(job));
    const next = planned && planned.at < now ? nextFiring(job, now) : planned;
    return { ...job, isDurable, ...(next && { nextFireAt: next.at }) };
  }

  #change(jobs: Job[]): void {
    this.#jobs = jobs;
    const file = this.#deps.sessionFile();
    if (file === undefined) return;
    try {
      writeJobs(file, jobs);
    } catch (cause) {
      this.#deps.note(
        `the scheduled prompts cannot be stored in ${file} and are lost at the end of the session: ${messageOf(cause)}; check its permissions and the free disk space`,
      );
    }
  }

  /** Fires what is due, and sets the timer for the next job. */
  #plan(): void {
    this.#cancelTimer?.();
    if (this.#isEnded) return;
    const { clock, durable } = this.#deps;
    try {
      const isOwner = durable?.own() === true;
      const now = clock.now();
      for (const { job, isDurable } of this.#all())
        if (!isDurable || isOwner) this.#fireIfDue(job, isDurable, now);
    } catch (cause) {
      this.#deps.note(
        `scheduled jobs could not be checked or recorded: ${messageOf(cause)}; a job that is due now may run late`,
      );
    }
    const now = clock.now();
    const all = this.#all();
    const times = all.map(({ job }) => nextFiring(job, sinceOf(job))?.at ?? Number.POSITIVE_INFINITY);
    const wait = Math.min(
      ...times.map((at) => Math.max(at - now, 0) || MINUTE_MS / 60),
      durable ? POLL_MS : Infinity,
    );
    const isNeeded = all.length > 0 || durable !== undefined;
    if (isNeeded && Number.isFinite(wait))
      this.#cancelTimer = clock.after(wait, () => this.#plan(), 'background');
    if (this.#due.size > 0) this.#deps.onNotice();
  }

  /** Runs that were missed, such as while no session was open, are reported and run once. */
  #fireIfDue(job: Job, isDurable: boolean, now: number): void {
    if (this.#due.has(job.id)) return;
    const state = jobState(job, now);
    if (state.kind === 'waiting') return;
    if (state.kind === 'expired') {
      this.#forget(job, isDurable);
      this.#deps.note(`the scheduled job ${job.id} (${humanSchedule(job.cron)}) has expired and was removed`);
      return;
    }
    const { due, first, missed, isLate, isLast } = state;
    if (isDurable && this.#deps.durable?.claim(job, due) === false) return;
    if (!isDurable)
      this.#change(
        job.recurring
          ? this.#jobs.map((it) => (it.id === job.id ? { ...it, lastRunAt: due } : it))
          : this.#jobs.filter((it) => it.id !== job.id),
      );
    if (isLate)
      this.#deps.note(
        `the scheduled job ${job.id} was due at ${new Date(first).toISOString()} and runs now${missed > 0 ? `, once; ${missed} ${missed === 1 ? 'run was' : 'runs were'} missed` : ''}`,
      );
    if (isLast) this.#forget(job, isDurable);
    this.#due.set(job.id, job.prompt);
  }

  #forget(job: Job, isDurable: boolean): void {
    if (isDurable) this.#deps.durable?.remove(job.id);
    else this.#change(this.#jobs.filter(({ id }) => id !== job.id));
  }
}

/** The time after which runs of a job are due: its last run or, if there is none, its creation. */
function sinceOf({ createdAt, lastRunAt }: Job): number {
  return lastRunAt ?? createdAt;
}

function newId(): string {
  return randomBytes(4).toString('hex');
}
