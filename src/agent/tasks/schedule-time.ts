import { createRequire } from 'node:module';
import type * as Croner from 'croner';

/** The fields of a cron expression, with the values that each may have. Sunday is 0 and 7. */
const FIELDS = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12 },
  { min: 0, max: 7 },
] as const;

const MINUTE_MS = 60_000;
const MAX_LATE_MS = 30 * MINUTE_MS;
const MAX_EARLY_MS = 90_000;
const YEAR_MS = 366 * 24 * 60 * MINUTE_MS;
/**
 * The longest time between two dates of the same day and month: from one February 29 to the next, around a year such as
 * 2100.
 */
const LEAP_YEARS = 8;

/** Whether a text is a cron expression: five fields of numbers, `*`, lists, ranges and steps. */
export function isCronExpression(cron: string): boolean {
  const fields = cron.trim().split(/\s+/);
  return cron.length <= 200 && fields.length === FIELDS.length && fields.every(isField);
}

function isField(field: string, at: number): boolean {
  const { min, max } = FIELDS[at] ?? { min: 0, max: 0 };
  return field.split(',').every((part) => {
    const [, all, from, to, step] = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (all === undefined && from === undefined) return false;
    if (step !== undefined && (Number(step) < 1 || (all === undefined && to === undefined))) return false;
    const [first, last] = [Number(from ?? min), Number(to ?? from ?? max)];
    return first >= min && last <= max && first <= last;
  });
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The time zone of the system. */
export function localTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * The first run after a time, both in milliseconds since 1970; undefined if no date matches. If both days are restricted,
 * either may match. A job at one time of the day, which a change of the clock skips or repeats, runs once: at the end of
 * the skipped period, or the first time. Other jobs run at each minute that matches.
 */
export function nextRun(cron: string, after: number, timeZone = localTimeZone()): number | undefined {
  const found = pattern(cron, timeZone).nextRun(new Date(after));
  return found && found.getTime() - after <= LEAP_YEARS * YEAR_MS ? found.getTime() : undefined;
}

/** Compiled expressions, the last used at the end. */
const patterns = new Map<string, Croner.Cron>();
const MAX_PATTERNS = 200;

function pattern(cron: string, timezone: string): Croner.Cron {
  const key = `${timezone} ${cron}`;
  const made =
    patterns.get(key) ?? new (load().Cron)(expanded(cron), { timezone, mode: '5-part', paused: true });
  patterns.delete(key);
  patterns.set(key, made);
  const [oldest] = patterns.keys();
  if (patterns.size > MAX_PATTERNS && oldest !== undefined) patterns.delete(oldest);
  return made;
}

/** The expression with each field as `*` or a list of numbers, which every parser of cron reads alike. */
function expanded(cron: string): string {
  const fields = cron.trim().split(/\s+/);
  return fields.map((field, at) => (field === '*' ? field : valuesOf(field, at).join(','))).join(' ');
}

function valuesOf(field: string, at: number): number[] {
  const { min, max } = FIELDS[at] ?? { min: 0, max: 0 };
  const values = field.split(',').flatMap((part) => {
    const [range = '', step = '1'] = part.split('/');
    const [from = min, to = from] = range === '*' ? [min, max] : range.split('-').map(Number);
    return Array.from(
      { length: Math.floor((to - from) / Number(step)) + 1 },
      (_, n) => from + n * Number(step),
    );
  });
  return [...new Set(values.map((value) => (at === 4 ? value % 7 : value)))];
}

/** Loaded at the first use. */
function load(): typeof Croner {
  loaded ??= createRequire(import.meta.url)('croner') as typeof Croner;
  return loaded;
}

let loaded: typeof Croner | undefined;

/** What decides when a job fires. */
export type Timing = {
  readonly id: string;
  readonly cron: string;
  readonly recurring: boolean;
  readonly timezone?: string;
};

/** A run at `due` fires at `at`. */
export type Firing = { readonly due: number; readonly at: number };

/**
 * The next run after a time, and when it fires. Jobs of many sessions are spread, by their id: a recurring job is up to
 * half a period late, at most half an hour; a job that runs once at a full or half hour is up to 90 seconds early.
 */
export function nextFiring({ id, cron, recurring, timezone }: Timing, after: number): Firing | undefined {
  const due = nextRun(cron, after, timezone);
  if (due === undefined) return undefined;
  const share = Number.parseInt(id.slice(0, 8), 16) / 2 ** 32;
  if (!recurring) {
    const isRound = new Date(due).getUTCMinutes() % 30 === 0;
    return { due, at: Math.max(after, due - (isRound ? Math.round(share * MAX_EARLY_MS) : 0)) };
  }
  const period = (nextRun(cron, due, timezone) ?? due + YEAR_MS) - due;
  return { due, at: due + Math.round(share * Math.min(period / 2, MAX_LATE_MS)) };
}

/** Recurring jobs end a week after their creation. */
const EXPIRY_MS = 7 * 24 * 60 * MINUTE_MS;
/** A run that starts more than this after its scheduled time is reported as missed. */
const LATE_MS = MINUTE_MS;

/** What a job has to do at a time. A run that is due takes the place of `missed` earlier ones; `first` is the earliest. */
export type JobState =
  | { readonly kind: 'waiting'; readonly at: number }
  | { readonly kind: 'expired' }
  | {
      readonly kind: 'due';
      readonly due: number;
      readonly first: number;
      readonly missed: number;
      readonly isLate: boolean;
      /** The job expires with this run. */
      readonly isLast: boolean;
    };

export function jobState(
  job: Timing & { readonly createdAt: number; readonly lastRunAt?: number },
  now: number,
): JobState {
  const since = job.lastRunAt ?? job.createdAt;
  const expiresAt = job.recurring ? job.createdAt + EXPIRY_MS : Number.POSITIVE_INFINITY;
  const firing = nextFiring(job, since);
  const isLast = now >= expiresAt;
  if (!firing || (isLast && firing.due > expiresAt)) return { kind: 'expired' };
  if (firing.at > now) return { kind: 'waiting', at: firing.at };
  const missed = job.recurring ? countRuns(job, since, now) - 1 : 0;
  const due = missed > 0 ? latestRun(job, firing.due, now) : firing.due;
  const isLate = missed > 0 || now - firing.at > LATE_MS;
  return { kind: 'due', due, first: firing.due, missed, isLate, isLast };
}

/** The last run up to now. */
function latestRun({ cron, timezone }: Timing, first: number, now: number): number {
  let latest = first;
  for (
    let at: number | undefined = first, count = 0;
    at !== undefined && at <= now && count < 20_000;
    count++
  ) {
    latest = at;
    at = nextRun(cron, at, timezone);
  }
  return latest;
}

/** The runs in (`after`, `until`], counted up to `max`. */
export function countRuns({ cron, timezone }: Timing, after: number, until: number, max = 1_000): number {
  let count = 0;
  for (let at = nextRun(cron, after, timezone); at !== undefined && at <= until && count < max; count++)
    at = nextRun(cron, at, timezone);
  return count;
}

/** The expression in words, if it is one of the usual kinds; otherwise the expression itself. */
export function humanSchedule(cron: string): string {
  const [minute = '', hour = '', day, month, weekday = ''] = cron.trim().split(/\s+/);
  if (day !== '*' || month !== '*') return cron;
  const step = (field: string) => /^\*\/(\d+)$/.exec(field)?.[1];
  const isNumber = (field: string) => /^\d+$/.test(field);
  if (weekday === '*') {
    if (minute === '*' && hour === '*') return 'Every minute';
    const minutes = step(minute);
    if (minutes !== undefined && hour === '*')
      return minutes === '1' ? 'Every minute' : `Every ${minutes} minutes`;
    if (isNumber(minute) && hour === '*')
      return minute === '0' ? 'Every hour' : `Every hour at :${minute.padStart(2, '0')}`;
    const hours = step(hour);
    if (isNumber(minute) && hours !== undefined) {
      const at = Number(minute) === 0 ? '' : ` at :${minute.padStart(2, '0')}`;
      return hours === '1' ? `Every hour${at}` : `Every ${hours} hours${at}`;
    }
  }
  if (!isNumber(minute) || !isNumber(hour)) return cron;
  const time = clockTime(Number(hour), Number(minute));
  if (weekday === '*') return `Every day at ${time}`;
  if (weekday === '1-5') return `Weekdays at ${time}`;
  return isNumber(weekday) ? `Every ${WEEKDAYS[Number(weekday) % 7]} at ${time}` : cron;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function clockTime(hour: number, minute: number): string {
  return `${hour % 12 || 12}:${String(minute).padStart(2, '0')} ${hour < 12 ? 'AM' : 'PM'}`;
}

/** A time for people, such as `Nov 18 8:10pm`. */
export function shortTime(at: number, timeZone = localTimeZone()): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    ...{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', hour12: true },
    timeZone,
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((it) => it.type === type)?.value ?? '';
  return `${part('month')} ${part('day')} ${part('hour')}:${part('minute')}${part('dayPeriod').toLowerCase()}`;
}
