import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countRuns,
  humanSchedule,
  isCronExpression,
  nextFiring,
  nextRun,
  shortTime,
} from '../../../src/agent/tasks/schedule-time.ts';

const MINUTE = 60_000;
const DAYS = 400;

/** A local time; `clock` counts minutes as if no time change existed. */
type LocalMinute = { readonly values: readonly number[]; readonly clock: number };

/** Time zones change their offset at full quarters of an hour only. */
const QUARTER = 15;

/** The local time of each minute of 400 days. `Intl` is asked for every 15th, because it is slow. */
function localMinutes(timeZone: string, start: number): LocalMinute[] {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
    ...{ hourCycle: 'h23' as const, timeZone },
  });
  return Array.from({ length: (DAYS * 24 * 60) / QUARTER }, (_, at) => {
    const parts = Object.fromEntries(
      format.formatToParts(start + at * QUARTER * MINUTE).map((it) => [it.type, Number(it.value)]),
    );
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute) / MINUTE;
  }).flatMap((first) => Array.from({ length: QUARTER }, (_, minute) => localMinute(first + minute)));
}

function localMinute(clock: number): LocalMinute {
  const date = new Date(clock * MINUTE);
  const day = [date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay()];
  return { values: [date.getUTCMinutes(), date.getUTCHours(), ...day], clock };
}

/** Written from the definition of cron, without a library: tests each minute. */
function oracle(cron: string, minutes: readonly LocalMinute[], start: number): number[] {
  const fields = cron.split(' ');
  const sets = fields.map((field, at) =>
    setOf(field, ([0, 0, 1, 1, 0] as const)[at] ?? 0, [59, 23, 31, 12, 7][at] ?? 0),
  );
  const has = (at: number, value: number) =>
    sets[at]?.has(value) === true || (at === 4 && value === 0 && sets[4]?.has(7) === true);
  const matches = ([minute = 0, hour = 0, day = 0, month = 0, weekday = 0]: readonly number[]) => {
    const byDay = fields[2] === '*' ? undefined : has(2, day);
    const byWeekday = fields[4] === '*' ? undefined : has(4, weekday);
    const isDay =
      byDay === undefined || byWeekday === undefined ? (byDay ?? byWeekday ?? true) : byDay || byWeekday;
    return has(0, minute) && has(1, hour) && has(3, month) && isDay;
  };
  const isFixed = sets[0]?.size === 1 && sets[1]?.size === 1;
  const runs = new Set<number>();
  let latest = Number.NEGATIVE_INFINITY;
  minutes.forEach(({ values, clock }, at) => {
    const before = minutes[at - 1]?.clock ?? clock - 1;
    const isRepeated = clock <= latest;
    if (matches(values) && !(isFixed && isRepeated)) runs.add(start + at * MINUTE);
    // Minutes that the clock skipped, on this day.
    for (let skipped = before + 1; isFixed && skipped < clock; skipped++) {
      const date = new Date(skipped * MINUTE);
      const local = [
        date.getUTCMinutes(),
        date.getUTCHours(),
        values[2] ?? 0,
        values[3] ?? 0,
        values[4] ?? 0,
      ];
      if (matches(local)) runs.add(start + at * MINUTE);
    }
    latest = Math.max(latest, clock);
  });
  return [...runs].sort((a, b) => a - b);
}

function setOf(field: string, min: number, max: number): Set<number> {
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from, to = from] = range === '*' ? [min, max] : range.split('-').map(Number);
    for (let value = from ?? min; value <= (to ?? max); value += Number(step)) found.add(value);
  }
  return found;
}

/** The runs as a session finds them: each after the one before. */
function simulated(cron: string, timeZone: string, start: number): number[] {
  const runs: number[] = [];
  const end = start + DAYS * 24 * 60 * MINUTE;
  for (let at = start - 1; ; ) {
    const next = nextRun(cron, at, timeZone);
    if (next === undefined || next >= end) return runs;
    runs.push(next);
    at = next;
  }
}

/** All within 400 days with two changes of the clock; Lord Howe changes it by half an hour. */
const ZONES = [
  ['Europe/Berlin', '2026-01-01T00:00:00Z'],
  ['America/New_York', '2026-02-10T05:00:00Z'],
  ['Australia/Lord_Howe', '2026-01-01T00:00:00Z'],
  ['UTC', '2027-06-01T00:00:00Z'],
] as const;

const field = (min: number, max: number) => {
  const value = fc.integer({ min, max });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: 15 });
  const part = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([it, by]) => `${it}/${by}`),
    step.map((by) => `*/${by}`),
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: value.map(String) },
    { weight: 2, arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(',')) },
  );
};
/** Few minutes: each run of 400 days is found one after the other. */
const rareTime = fc.tuple(fc.integer({ min: 0, max: 59 }).map(String), field(1, 3));
const time = fc.tuple(field(0, 59), fc.oneof(field(0, 23), field(1, 3)));
const date = fc.tuple(field(1, 31), field(1, 12), field(0, 7));
const rareExpression = fc.tuple(rareTime, date).map((parts) => parts.flat().join(' '));
const expression = fc.tuple(time, date).map((parts) => parts.flat().join(' '));

test.each(ZONES)(
  'over 400 days in %s, with its changes of the clock, runs equal those of the oracle',
  { timeout: 120_000 },
  (timeZone, from) => {
    const start = Date.parse(from);
    const minutes = localMinutes(timeZone, start);
    const check = (cron: string) => {
      expect(simulated(cron, timeZone, start), cron).toEqual(oracle(cron, minutes, start));
    };
    for (const cron of [
      '30 2 * * *',
      '30 1 * * *',
      '15 2 * * 0',
      '20,50 * * * *',
      '45 1-2 * * *',
      '0 9 13 * 5',
    ])
      check(cron);
    for (const cron of ['0 0 * * 7', '59 23 31 12 *', '0 2 29 3 *', '7 */2 * * 1-5', '0 12 1,15 * *'])
      check(cron);
    fc.assert(
      fc.property(rareExpression, (cron) => check(cron)),
      { numRuns: 4, endOnFailure: true },
    );
  },
);

test('runs follow each other, and each is after the time that was asked for', () => {
  const at = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2030-01-01') });
  fc.assert(
    fc.property(expression, at, (cron, after) => {
      expect(isCronExpression(cron)).toBe(true);
      const next = nextRun(cron, after, 'Europe/Berlin');
      if (next === undefined) return;
      expect(next).toBeGreaterThan(after);
      expect(next % MINUTE).toBe(0);
      expect(nextRun(cron, next - 1, 'Europe/Berlin')).toBe(next);
      expect(countRuns({ id: '', cron, recurring: true, timezone: 'Europe/Berlin' }, after, next)).toBe(1);
    }),
  );
});

test('a recurring job is late by less than half a period and half an hour; one-shots are early only at round times', () => {
  const id = fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((it) => it.toString(16).padStart(8, '0'));
  const after = Date.parse('2026-05-05T10:10:10Z');
  fc.assert(
    fc.property(id, expression, (given, cron) => {
      const timing = { id: given, cron, timezone: 'UTC' };
      const late = nextFiring({ ...timing, recurring: true }, after);
      const early = nextFiring({ ...timing, recurring: false }, after);
      if (!late || !early) return;
      const period = (nextRun(cron, late.due, 'UTC') ?? Number.POSITIVE_INFINITY) - late.due;
      expect(late.at - late.due).toBeGreaterThanOrEqual(0);
      expect(late.at - late.due).toBeLessThanOrEqual(Math.min(period / 2, 30 * MINUTE));
      expect(early.due).toBe(late.due);
      expect(early.at).toBeGreaterThanOrEqual(after);
      const most = new Date(early.due).getUTCMinutes() % 30 === 0 ? 90_000 : 0;
      expect(early.due - early.at).toBeLessThanOrEqual(most);
      expect(nextFiring({ ...timing, recurring: true }, after)).toEqual(late);
    }),
  );
});

test.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['0 9 * * 1-5', 'Weekdays at 9:00 AM'],
  ['7 * * * *', 'Every hour at :07'],
  ['30 14 * * *', 'Every day at 2:30 PM'],
  ['0 0 1 1 *', '0 0 1 1 *'],
  ['15 10 * * 0', 'Every Sunday at 10:15 AM'],
  ['0 */2 * * *', 'Every 2 hours'],
  ['0 0 * * 7', 'Every Sunday at 12:00 AM'],
  ['13 9,17 * * 1,3', '13 9,17 * * 1,3'],
])('%s in words: %s', (cron, words) => {
  expect(humanSchedule(cron)).toBe(words);
});

test.each([
  'hello',
  '60 * * * *',
  '* * * * * *',
  '@daily',
  '0 0 L * *',
  '5-1 * * * *',
  '0 9 * JAN MON',
  '',
  '*/0 * * * *',
  '1/2 * * * *',
])('%j is no cron expression', (cron) => {
  expect(isCronExpression(cron)).toBe(false);
});

test('no date matches February 30; a time is shown short', () => {
  expect(nextRun('0 0 30 2 *', 0, 'UTC')).toBeUndefined();
  expect(shortTime(Date.parse('2026-11-18T20:10:27Z'), 'UTC')).toBe('Nov 18 8:10pm');
  expect(shortTime(Date.parse('2026-11-18T00:05:27Z'), 'UTC')).toBe('Nov 18 12:05am');
});
