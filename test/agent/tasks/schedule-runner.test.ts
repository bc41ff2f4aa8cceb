import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type JobRun,
  type RunnerEvent,
  type RunOutcome,
  ScheduleRunner,
} from '../../../src/agent/tasks/schedule-runner.ts';
import { DurableJobs, type Job } from '../../../src/agent/tasks/schedule-store.ts';
import { MINUTE, START, StepClock } from './step-clock.ts';

const DAY = 24 * 60 * MINUTE;

function directory(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'schedule-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Every ten minutes, without an offset. */
const job = (more: Partial<Job> = {}): Job => ({
  ...{ id: '00000001', cron: '*/10 * * * *', prompt: 'look', recurring: true, createdAt: START },
  ...more,
});

/** A runner whose runs end when the test ends them. */
function open() {
  const [home, clock] = [directory(), new StepClock()];
  const events: RunnerEvent[] = [];
  const running: { readonly run: JobRun; readonly end: (outcome: RunOutcome) => void }[] = [];
  const runner = new ScheduleRunner({
    ...{ clock, home },
    onEvent: (event) => events.push(event),
    run(run, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<RunOutcome>();
      running.push({ run, end: resolve });
      signal.addEventListener('abort', () => reject(signal.reason));
      return promise;
    },
  });
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const projectOf = (...jobs: Job[]) => {
    const project = directory();
    for (const one of jobs) new DurableJobs(project, home).add(one, {});
    return project;
  };
  /** Ends the first run, and resolves when the runner has seen that. */
  const endFirst = async () => {
    running.shift()?.end({ kind: 'finished', result: 'Done.', denied: [] });
    const count = events.length;
    for (let turn = 0; turn < 100 && events.length === count; turn++) await Promise.resolve();
    // The runner plans again after it has reported the end.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { runner, clock, home, events, running, projectOf, endFirst };
}

const kinds = (events: RunnerEvent[]) => events.splice(0).map(({ kind }) => kind);

test('each run of a job starts at its time, also that of a job that a session created later', async () => {
  const { runner, clock, home, events, running, projectOf, endFirst } = open();
  const first = projectOf(job());
  runner.start();
  clock.advance(5 * MINUTE);
  expect(kinds(events)).toEqual([]);
  clock.advance(5 * MINUTE);
  expect(events).toMatchObject([
    { kind: 'started', run: { project: first, due: Date.parse('2026-05-05T10:10:00Z') } },
  ]);
  await endFirst();
  expect(events.at(-1)).toMatchObject({ kind: 'ended', outcome: { kind: 'finished', result: 'Done.' } });
  events.splice(0);
  const later = projectOf();
  new DurableJobs(later, home).add(job({ prompt: 'later', recurring: false, createdAt: clock.now() }), {});
  clock.advance(10 * MINUTE);
  expect(running.map(({ run }) => run.job.prompt).sort()).toEqual(['later', 'look']);
  expect(new DurableJobs(later, home).list()).toEqual([]);
});

test('runs never overlap: those that are missed meanwhile are reported and run once', async () => {
  const { runner, clock, events, running, projectOf, endFirst } = open();
  projectOf(job(), job({ id: '00000002', cron: '20 10 * * *', prompt: 'second', recurring: false }));
  runner.start();
  clock.advance(60 * MINUTE);
  expect(running).toHaveLength(1);
  expect(kinds(events)).toEqual(['started']);
  await endFirst();
  // One job of a project at a time: the one that is due for longer.
  expect(running.map(({ run }) => run.job.prompt)).toEqual(['second']);
  expect(events.splice(0)).toMatchObject([
    { kind: 'ended' },
    { kind: 'missed', since: Date.parse('2026-05-05T10:20:00Z'), count: 1 },
    { kind: 'started' },
  ]);
  await endFirst();
  expect(events.splice(0)).toMatchObject([
    { kind: 'ended' },
    { kind: 'missed', since: Date.parse('2026-05-05T10:20:00Z'), count: 5 },
    { kind: 'started', run: { job: { prompt: 'look' }, due: Date.parse('2026-05-05T11:00:00Z') } },
  ]);
  await endFirst();
  expect(kinds(events)).toEqual(['ended']);
});

test('a run is recorded before it starts: it is not repeated after the process was killed', () => {
  const { runner, clock, home, events, projectOf } = open();
  const project = projectOf(job({ recurring: false }));
  runner.start();
  clock.advance(15 * MINUTE);
  expect(kinds(events)).toEqual(['started']);
  expect(new DurableJobs(project, home).list()).toEqual([]);
});

test('jobs that a live session fires are left to that session', () => {
  const { runner, clock, events, projectOf } = open();
  const project = projectOf(job());
  const lock = join(project, '.claude/scheduled_tasks.lock');
  writeFileSync(lock, `(pid ${process.ppid} start 0)\n`);
  runner.start();
  clock.advance(25 * MINUTE);
  expect(kinds(events)).toEqual([]);
  // The session has ended.
  rmSync(lock);
  clock.advance(MINUTE);
  expect(kinds(events)).toEqual(['missed', 'started']);
});

test('a removed project is reported once, and jobs that no session of the user created do not run', () => {
  const { runner, clock, events, projectOf } = open();
  const gone = projectOf(job());
  rmSync(gone, { recursive: true });
  const foreign = projectOf(job({ id: '00000003', cron: '0 0 1 1 *' }));
  writeFileSync(join(foreign, '.claude/scheduled_tasks.json'), JSON.stringify({ tasks: [job()] }));
  runner.start();
  clock.advance(30 * MINUTE);
  expect(events).toEqual([{ kind: 'skipped', project: gone, reason: 'the directory does not exist' }]);
});

test('a recurring job ends after a week, with one last run of what was missed', async () => {
  const { runner, clock, events, home, projectOf, endFirst } = open();
  const project = projectOf(
    job({ createdAt: START - 8 * DAY }),
    job({ id: '00000002', createdAt: START - 8 * DAY, lastRunAt: START - MINUTE }),
  );
  runner.start();
  clock.advance(1);
  expect(kinds(events)).toEqual(['expired', 'missed', 'started']);
  await endFirst();
  expect(new DurableJobs(project, home).list()).toEqual([]);
});

test('at most four sessions run at once; the others follow', async () => {
  const { runner, clock, running, projectOf, endFirst } = open();
  for (let count = 0; count < 6; count++) projectOf(job({ recurring: false }));
  runner.start();
  clock.advance(10 * MINUTE);
  expect(running).toHaveLength(4);
  await endFirst();
  expect(running).toHaveLength(4);
  await endFirst();
  expect(running).toHaveLength(4);
});

test('a run that hangs is ended after two hours, and its project continues', async () => {
  const { runner, clock, events, projectOf } = open();
  projectOf(job());
  runner.start();
  clock.advance(10 * MINUTE);
  events.splice(0);
  clock.advance(120 * MINUTE);
  await expect
    .poll(() => events)
    .toMatchObject([
      {
        kind: 'ended',
        outcome: { kind: 'failed', error: 'the run took longer than 2 hours and was ended' },
      },
      { kind: 'missed' },
      { kind: 'started' },
    ]);
});

test('the end of the runner ends the running sessions', async () => {
  const { runner, clock, events, projectOf } = open();
  projectOf(job());
  runner.start();
  clock.advance(10 * MINUTE);
  await runner[Symbol.asyncDispose]();
  expect(events.at(-1)).toMatchObject({
    kind: 'ended',
    outcome: { kind: 'failed', error: 'the daemon was ended' },
  });
  clock.advance(60 * MINUTE);
  expect(kinds(events)).toEqual(['started', 'ended']);
});
