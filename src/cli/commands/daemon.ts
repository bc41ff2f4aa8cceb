import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { isScheduleDisabled } from '../../agent/launch/environment-variables.ts';
import { ProcessLock } from '../../agent/tasks/process-owner.ts';
import {
  type JobRun,
  type RunnerEvent,
  type RunOutcome,
  ScheduleRunner,
} from '../../agent/tasks/schedule-runner.ts';
import { humanSchedule } from '../../agent/tasks/schedule-time.ts';
import { SYSTEM_CLOCK } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import { armKillOnDeath, killOnDeath } from '../../base/process/kill-on-death.ts';
import { ProcessGroup, terminate } from '../../base/process/process-group.ts';
import { summarizeStderr } from '../../base/process/stderr-summary.ts';
import { formatCount, pluralize, sliceText, truncate, visibleJson } from '../../base/text/display-text.ts';
import { homeDirectory, onSignals } from '../host/with-host.ts';
import { CommandFailed, exitWith } from '../output/failure.ts';
import { processOutput } from '../output/output.ts';
import { sanitizeLine } from '../terminal/terminal-text.ts';

const HELP = `
Durable scheduled prompts are created in sessions, with the tool CronCreate and "durable": true. Each due prompt runs in
a session of its own in the directory of its project, as "toolplane run" would run it: with the settings of the project
and of the user, and non-interactively, so that calls that require approval are denied. The model is that of
TOOLPLANE_MODEL or of the settings.

Prompts of a directory in which a session is open are left to that session. Runs that were missed are reported and run
once; two runs of one project never overlap.

The command runs until SIGINT, SIGTERM or SIGHUP, which also end the running sessions. With --json it prints one object per
line; its "type" is ready, started, finished, failed, missed, expired or skipped.`;

/** `toolplane daemon`: runs the durable scheduled prompts of the user while no session does. */
export function defineDaemon(command: Command): void {
  command
    .option('--json', 'print one JSON object per event and line')
    .addHelpText('after', HELP)
    .action(async ({ json }: { json?: true }) => {
      exitWith(await runDaemon(json ? jsonLine : textLine, process.env));
    });
}

/** Returns the exit code: 0 after a signal, 1 if the reader of stdout has closed it. */
async function runDaemon(format: (event: DaemonEvent) => string, env: NodeJS.ProcessEnv): Promise<0 | 1> {
  if (isScheduleDisabled(env))
    throw new CommandFailed('scheduled prompts are turned off by CLAUDE_CODE_DISABLE_CRON; unset it');
  const home = resolve(homeDirectory(env));
  const schedule = join(home, 'schedule');
  const ended = Promise.withResolvers<0 | 1>();
  const output = processOutput(env, () => ended.resolve(1));
  const print = (event: DaemonEvent) => void output.print(`${format(event)}\n`);
  const lock = new ProcessLock(join(schedule, 'daemon.lock'));
  if (!lock.take())
    throw new CommandFailed(
      `a daemon of this user is already running (process ${lock.holder ?? 'unknown'}); end it first`,
    );
  let hasSignal = false;
  const end = () => {
    if (hasSignal) process.exit(130);
    hasSignal = true;
    ended.resolve(0);
  };
  using _signals = onSignals({
    SIGINT: end,
    SIGTERM: () => ended.resolve(0),
    SIGHUP: () => ended.resolve(0),
  });
  try {
    await using runner = new ScheduleRunner({
      clock: SYSTEM_CLOCK,
      home: schedule,
      run: (run, signal) => runPrompt(run, { ...env, TOOLPLANE_HOME: home, PWD: run.project }, signal),
      onEvent: (event) => print(published(event)),
    });
    print({ type: 'ready', at: now(), pid: process.pid, jobs: runner.jobCount });
    runner.start();
    return await ended.promise;
  } finally {
    lock.release();
  }
}

const MAX_RESULT = 4_000;
const MAX_OUTPUT = 8 * 1024 * 1024;
/** Time between SIGTERM and SIGKILL: a session runs its hooks and ends its servers. */
const GRACE_MS = 5_000;

/** Runs `toolplane run` in the directory of the project. The prompt is sent on stdin: other users can read arguments. */
async function runPrompt(
  { project, job }: JobRun,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<RunOutcome> {
  signal.throwIfAborted();
  const disarm = armKillOnDeath();
  const [, program = ''] = process.argv;
  const child = spawn(process.execPath, [program, 'run', '--output-format', 'json'], {
    cwd: project,
    env,
    // A group of its own: Ctrl+C reaches only the daemon, which ends the session.
    detached: true,
  });
  const release = child.pid === undefined ? () => {} : killOnDeath(-child.pid, 'gently');
  disarm();
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const stop = () => void endProcess(child);
  signal.addEventListener('abort', stop, { once: true });
  try {
    // EPIPE: the session ended without reading its prompt; its exit code says why.
    child.stdin.on('error', () => {});
    child.stdin.end(job.prompt);
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    const [code, killedBy] = await closed;
    return outcomeOf(stdout(), stderr(), killedBy ?? `exit code ${code}`, code === 0);
  } finally {
    signal.removeEventListener('abort', stop);
    release();
  }
}

async function endProcess({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  const group = new ProcessGroup(pid);
  await terminate(group, { signals: ['SIGTERM', 'SIGKILL'], graceMs: GRACE_MS });
}

/** Collects the text of a stream, up to a limit; the rest is read and dropped. */
function textOf(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < MAX_OUTPUT) text += chunk;
  });
  return () => text;
}

function outcomeOf(stdout: string, stderr: string, ending: string, isSuccess: boolean): RunOutcome {
  const message = resultOf(stdout);
  const session = typeof message.session_id === 'string' ? { session: message.session_id } : {};
  if (isSuccess) {
    const denials = Array.isArray(message.permission_denials) ? message.permission_denials : [];
    const denied = new Set(denials.filter(isRecord).map(({ tool_name }) => String(tool_name)));
    const result = truncate(typeof message.result === 'string' ? message.result : '', MAX_RESULT);
    return { kind: 'finished', ...session, result, denied: [...denied] };
  }
  const lines = sliceText(stderr, MAX_RESULT)
    .split('\n')
    .flatMap((line) => line.replace(/^toolplane: /, '').trim() || []);
  return { kind: 'failed', ...session, error: summarizeStderr(lines) || `the session ended with ${ending}` };
}

function resultOf(stdout: string): Record<string, unknown> {
  try {
    const message: unknown = JSON.parse(stdout);
    return isRecord(message) ? message : {};
  } catch {
    return {};
  }
}

type JobFields = { readonly project: string; readonly job: string };

/** What `--json` prints; times are in ISO 8601. */
type DaemonEvent = { readonly at: string } & (
  | { readonly type: 'ready'; readonly pid: number; readonly jobs: number }
  | ({
      readonly type: 'started';
      readonly due: string;
      readonly schedule: string;
      readonly prompt: string;
    } & JobFields)
  | ({
      readonly type: 'finished';
      readonly session?: string;
      readonly result: string;
      readonly denied?: readonly string[];
      readonly durationMs: number;
    } & JobFields)
  | ({
      readonly type: 'failed';
      readonly session?: string;
      readonly error: string;
      readonly durationMs: number;
    } & JobFields)
  | ({ readonly type: 'missed'; readonly since: string; readonly count: number } & JobFields)
  | ({ readonly type: 'expired' } & JobFields)
  | { readonly type: 'skipped'; readonly project: string; readonly reason: string }
);

const now = () => new Date().toISOString();
const isoTime = (at: number) => new Date(at).toISOString();

function published(event: RunnerEvent): DaemonEvent {
  const at = now();
  switch (event.kind) {
    case 'skipped':
      return { type: 'skipped', at, project: event.project, reason: event.reason };
    case 'expired':
      return { type: 'expired', at, project: event.project, job: event.job.id };
    case 'missed':
      return { type: 'missed', at, ...jobFields(event.run), since: isoTime(event.since), count: event.count };
    case 'started': {
      const { job, due } = event.run;
      const prompt = truncate(job.prompt, MAX_RESULT);
      return { type: 'started', at, ...jobFields(event.run), due: isoTime(due), schedule: job.cron, prompt };
    }
    case 'ended': {
      const { outcome, durationMs, run } = event;
      const session = outcome.session === undefined ? {} : { session: outcome.session };
      const fields = { at, ...jobFields(run), ...session, durationMs };
      if (outcome.kind === 'failed') return { type: 'failed', ...fields, error: outcome.error };
      const denied = outcome.denied.length > 0 ? { denied: outcome.denied } : {};
      return { type: 'finished', ...fields, result: outcome.result, ...denied };
    }
  }
}

function jobFields({ project, job }: JobRun): JobFields {
  return { project, job: job.id };
}

function jsonLine(event: DaemonEvent): string {
  return visibleJson(JSON.stringify(event));
}

const MAX_LINE_TEXT = 200;

function textLine(event: DaemonEvent): string {
  const place = 'project' in event ? ` ${'job' in event ? `${event.job} in ` : ''}${event.project}` : '';
  return sanitizeLine(`${event.at} ${event.type}${place}: ${textOfEvent(event)}`);
}

function textOfEvent(event: DaemonEvent): string {
  switch (event.type) {
    case 'ready':
      return `${pluralize(event.jobs, 'scheduled prompt')}; Ctrl+C ends the daemon`;
    case 'started':
      return `${humanSchedule(event.schedule)}: ${shortText(event.prompt)}`;
    case 'finished': {
      const denied = event.denied ? ` (denied: ${event.denied.join(', ')})` : '';
      return `${shortText(event.result)}${denied} in ${formatCount(Math.round(event.durationMs / 1000))} s`;
    }
    case 'failed':
      return shortText(event.error);
    case 'missed':
      return `the prompt was due ${event.count === 1 ? '' : `${pluralize(event.count, 'time')} `}since ${event.since} and runs once now`;
    case 'expired':
      return 'the prompt is older than seven days and was removed';
    case 'skipped':
      return event.reason;
  }
}

function shortText(text: string): string {
  return truncate(sanitizeLine(text), MAX_LINE_TEXT);
}
