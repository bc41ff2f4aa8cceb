import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Schedule } from '../../../src/agent/tasks/schedule.ts';
import { DurableJobs, scheduledProjects } from '../../../src/agent/tasks/schedule-store.ts';
import { MINUTE, START, StepClock } from './step-clock.ts';

const DAY = 24 * 60 * MINUTE;

function directory(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'schedule-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

type Parts = {
  readonly clock?: StepClock;
  readonly file?: string;
  readonly cwd?: string;
  readonly home?: string;
};

function open({ clock = new StepClock(), file, cwd, home }: Parts = {}) {
  const notes: string[] = [];
  let wakes = 0;
  const schedule = new Schedule({
    clock,
    durable: cwd !== undefined && home !== undefined ? new DurableJobs(cwd, home) : undefined,
    sessionFile: () => file,
    details: () => ({ createdBySessionId: 's' }),
    onNotice: () => wakes++,
    note: (text) => notes.push(text),
  });
  schedule.start();
  onTestFinished(() => schedule[Symbol.asyncDispose]());
  /** The prompts that are due, as an idle session takes them. */
  const due = () => {
    const prompts: string[] = [];
    for (let batch = schedule.take('idle'); batch; batch = schedule.take('idle'))
      prompts.push(...batch.notices.map(({ text }) => text));
    return prompts;
  };
  return { schedule, clock, notes, due, wakes: () => wakes };
}

const job = (more: object = {}) => ({
  cron: '*/10 * * * *',
  prompt: 'p',
  recurring: true,
  durable: false,
  ...more,
});

test('a recurring prompt is due once per run, only while idle, and never twice at a time', () => {
  const { schedule, clock, due, wakes } = open();
  schedule.create(job());
  clock.advance(5 * MINUTE);
  expect(due()).toEqual([]);
  clock.advance(10 * MINUTE);
  expect(wakes()).toBeGreaterThan(0);
  for (const moment of ['round', 'prompt', 'finishing'] as const)
    expect(schedule.take(moment)).toBeUndefined();
  // The agent was busy for an hour.
  clock.advance(60 * MINUTE);
  expect(due()).toEqual(['p']);
  clock.advance(10 * MINUTE);
  expect(due()).toEqual(['p']);
});

test('a one-shot is removed before its prompt is sent', () => {
  const { schedule, clock, due } = open();
  schedule.create(job({ cron: '17 10 * * *', recurring: false, timezone: 'UTC' }));
  expect(schedule.list()).toMatchObject([
    { nextFireAt: Date.parse('2026-05-05T10:17:00Z'), isDurable: false },
  ]);
  clock.advance(20 * MINUTE);
  expect(schedule.list()).toEqual([]);
  expect(due()).toEqual(['p']);
  clock.advance(2 * DAY);
  expect(due()).toEqual([]);
});

test('a recurring job ends after seven days', () => {
  const { schedule, clock, due, notes } = open();
  schedule.create(job({ cron: '5 12 * * *', timezone: 'UTC' }));
  let count = 0;
  for (let day = 0; day < 10; day++) {
    clock.advance(DAY);
    count += due().length;
  }
  expect(count).toBe(7);
  expect(schedule.list()).toEqual([]);
  expect(notes.join()).toContain('has expired');
});

test.each([
  ['hello', "Invalid cron expression 'hello'. Expected 5 fields: M H DoM Mon DoW."],
  ['0 0 30 2 *', "Cron expression '0 0 30 2 *' does not match any calendar date in the next year."],
])('%j is refused', (cron, fault) => {
  expect(open().schedule.create(job({ cron }))).toEqual({ fault });
});

test('an unknown time zone and too many jobs are refused', () => {
  const { schedule } = open();
  expect(schedule.create(job({ timezone: 'Nowhere/City' }))).toMatchObject({
    fault: expect.stringContaining('IANA'),
  });
  for (let at = 0; at < 50; at++) schedule.create(job());
  expect(schedule.create(job())).toMatchObject({ fault: expect.stringContaining('max 50') });
});

test('the jobs of a session come back when it is resumed; missed runs are reported and run once', () => {
  const file = join(directory(), 'session', 'scheduled-tasks.json');
  const first = open({ file });
  first.schedule.create(job());
  const later = open({ file, clock: new StepClock(START + 3 * 60 * MINUTE) });
  expect(later.schedule.list()).toMatchObject([{ prompt: 'p' }]);
  expect(later.due()).toEqual(['p']);
  expect(later.notes).toEqual([
    expect.stringMatching(/was due at .* runs now, once; 1[67] runs were missed/),
  ]);
  later.clock.advance(9 * MINUTE);
  expect(later.due().length).toBeLessThanOrEqual(1);
  expect(open().schedule.list()).toEqual([]);
});

test('a durable job is in a file of the project; any session has it, and one fires it', () => {
  const [cwd, home] = [directory(), directory()];
  const clock = new StepClock();
  const first = open({ cwd, home, clock });
  const made = first.schedule.create(job({ durable: true }));
  const path = join(cwd, '.claude/scheduled_tasks.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    tasks: [
      { cron: '*/10 * * * *', prompt: 'p', recurring: true, createdAt: START, createdBySessionId: 's' },
    ],
  });
  expect(existsSync(join(cwd, '.claude/scheduled_tasks.lock'))).toBe(true);
  const second = open({ cwd, home, clock });
  expect(second.schedule.list()).toMatchObject([{ id: 'id' in made ? made.id : '', isDurable: true }]);
  expect(scheduledProjects(home)).toEqual([cwd]);
  // The first run is at most five minutes late, and the second is not due yet.
  clock.advance(15 * MINUTE);
  expect([...first.due(), ...second.due()]).toEqual(['p']);
  expect(second.schedule.remove('id' in made ? made.id : '')).toMatchObject({ prompt: 'p' });
  expect(first.schedule.list()).toEqual([]);
  expect(scheduledProjects(home)).toEqual([]);
});

test('a run is claimed once, and another live process keeps its lock', () => {
  const [cwd, home] = [directory(), directory()];
  const jobs = new DurableJobs(cwd, home);
  const made = { id: '0000000a', cron: '* * * * *', prompt: 'p', recurring: true, createdAt: START };
  jobs.add(made, {});
  const claims = Array.from({ length: 10 }, () => new DurableJobs(cwd, home).claim(made, START + MINUTE));
  expect(claims.filter((it) => it)).toHaveLength(1);
  const lock = join(cwd, '.claude/scheduled_tasks.lock');
  writeFileSync(lock, `(pid ${process.ppid} start 0)\n`);
  expect(jobs.own()).toBe(false);
  writeFileSync(lock, `(pid ${process.pid} start 1)\n`);
  // That process has ended: this one has another time of start.
  expect(jobs.own()).toBe(true);
  jobs.release();
  expect(existsSync(lock)).toBe(false);
});

test('a restored file of the repository repeats no run, and changes no date of creation', () => {
  const [cwd, home] = [directory(), directory()];
  const jobs = new DurableJobs(cwd, home);
  const made = { id: '0000000a', cron: '* * * * *', prompt: 'p', recurring: true, createdAt: START };
  jobs.add(made, {});
  const path = join(cwd, '.claude/scheduled_tasks.json');
  const before = readFileSync(path, 'utf8');
  expect(jobs.claim(made, START + MINUTE)).toBe(true);
  writeFileSync(path, before.replaceAll(`${START}`, `${START + 60 * MINUTE}`));
  expect(jobs.list()).toEqual([{ ...made, lastRunAt: START + MINUTE }]);
  expect(jobs.claim(made, START + MINUTE)).toBe(false);
  expect(jobs.claim(made, START + 2 * MINUTE)).toBe(true);
});

test('jobs of a repository that no session of the user created neither run nor are listed', () => {
  const [cwd, home] = [directory(), directory()];
  mkdirSync(join(cwd, '.claude'));
  const tasks = [{ id: 'deadbeef', cron: '* * * * *', prompt: 'evil', createdAt: START, recurring: true }];
  writeFileSync(join(cwd, '.claude/scheduled_tasks.json'), JSON.stringify({ tasks }));
  const { schedule, clock, due, notes } = open({ cwd, home });
  expect(schedule.list()).toEqual([]);
  expect(notes).toEqual([
    expect.stringContaining('1 scheduled job of .claude/scheduled_tasks.json will not run'),
  ]);
  const made = schedule.create(job({ durable: true, cron: '0 0 1 1 *' }));
  clock.advance(10 * MINUTE);
  expect(due()).toEqual([]);
  // A changed prompt is another job.
  const text = readFileSync(join(cwd, '.claude/scheduled_tasks.json'), 'utf8');
  writeFileSync(
    join(cwd, '.claude/scheduled_tasks.json'),
    text.replaceAll('"prompt": "p"', '"prompt": "evil"'),
  );
  expect('id' in made && schedule.list()).toEqual([]);
});

test('a wake-up is at a full minute in 60 to 3600 seconds, and replaces the one before', () => {
  const { schedule, clock, due } = open();
  expect(schedule.wakeUp(5, 'a')).toEqual({
    ...{ scheduledFor: Date.parse('2026-05-05T10:02:00Z'), clampedDelaySeconds: 60, wasClamped: true },
  });
  expect(schedule.wakeUp(5000, 'b')).toMatchObject({ clampedDelaySeconds: 3600, wasClamped: true });
  expect(schedule.wakeUp(120.5, 'c')).toMatchObject({ clampedDelaySeconds: 121, wasClamped: false });
  expect(schedule.list()).toMatchObject([{ prompt: 'c', nextFireAt: Date.parse('2026-05-05T10:03:00Z') }]);
  clock.advance(3 * MINUTE);
  expect(due()).toEqual(['c']);
  schedule.wakeUp(60, 'd');
  expect(schedule.stopWakeUps()).toBe(1);
  expect(schedule.stopWakeUps()).toBe(0);
  clock.advance(DAY);
  expect(due()).toEqual([]);
});
