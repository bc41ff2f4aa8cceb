import { unlink } from 'node:fs/promises';
import { startTimer } from '../../../base/async/timers.ts';
import type { BashOutput } from '../../../protocol/tools/file-tools.ts';
import { failedOutcome, type ToolOutcome } from '../../loop/run-calls.ts';
import { newTaskId, type TaskHandle } from '../../tasks/background-tasks.ts';
import { type BuiltInContext, defineBuiltIn } from '../built-in.ts';
import { exitMeaning, isSilent } from './exit-meaning.ts';
import { MAX_OUTPUT, OutputSpool } from './output-spool.ts';
import type { ShellCommand, ShellEnd } from './shell-command.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const BACKGROUND_TIMEOUT_MS = 1_800_000;
const MAX_BACKGROUND_TIMEOUT_MS = 7_200_000;
/** A command that runs longer is reported as a task, so that a program can move it to the background. */
const REPORT_AFTER_MS = 2_000;
const PREVIEW_LENGTH = 2_000;
/** Maximum duration of a `sleep` at the start of a command; a longer one only delays the turn. */
const MAX_SLEEP_SECONDS = 5;

const RUN_IN_BACKGROUND = {
  run_in_background: {
    type: 'boolean',
    description:
      'Return at once and let the command run. Its output is written to a file, and you are notified when it ends.',
  },
} as const;

/** `Bash`; without background tasks it has no `run_in_background`, and a time limit ends the command. */
export const BASH = defineBash(true);
export const FOREGROUND_BASH = defineBash(false);

function defineBash(mayRunInBackground: boolean) {
  return defineBuiltIn({
    name: 'Bash',
    description: [
      'Runs a command in a new shell in the working directory and returns its output (stdout and stderr). The working directory carries over to the next command; variables do not.',
      'The command has no stdin and no terminal. Long output is saved to a file. Use Read, Edit and Write for files instead of shell commands.',
      ...(mayRunInBackground
        ? [
            'Use run_in_background for servers and long work instead of "&" or a long sleep; TaskStop ends such a command. A command that exceeds its timeout is moved to the background.',
          ]
        : []),
    ].join(' '),
    annotations: { title: 'Run a command', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    commandMember: 'command',
    required: { command: { type: 'string', minLength: 1, description: 'The command, as for bash -c.' } },
    optional: {
      timeout: {
        type: 'number',
        minimum: 1,
        description: `Time limit in milliseconds; ${DEFAULT_TIMEOUT_MS} by default, at most ${MAX_TIMEOUT_MS} unless the command runs in the background.`,
      },
      description: {
        type: 'string',
        description: 'What the command does, in five to ten words, for the user.',
      },
      ...(mayRunInBackground ? RUN_IN_BACKGROUND : {}),
      dangerouslyDisableSandbox: { type: 'boolean', description: 'Has no effect: there is no sandbox.' },
    },
    run: (input, context, signal) => runBash(input, context, signal, mayRunInBackground),
  });
}

type BashInput = {
  readonly command: string;
  readonly timeout?: number;
  readonly description?: string;
  readonly run_in_background?: boolean;
};

async function runBash(
  input: BashInput,
  context: BuiltInContext,
  signal: AbortSignal,
  mayRunInBackground: boolean,
): Promise<ToolOutcome> {
  const { command, timeout, description, run_in_background: isBackground = false } = input;
  const seconds = leadingSleep(command);
  if (!isBackground && seconds > MAX_SLEEP_SECONDS) {
    return failedOutcome(
      `<tool_use_error>Blocked: standalone sleep ${seconds}. Do not wait with sleep: run the command that you wait for with run_in_background and you are notified of its end, or use Sleep.</tool_use_error>`,
    );
  }
  const { ShellCommand: Command } = await import('./shell-command.ts');
  const id = newTaskId('b');
  const output = new OutputSpool(context.outputFile(id));
  const { workspace, env } = context;
  const directory = workspace.directory ?? workspace.cwd;
  const shell = new Command(command, { cwd: directory, env, output });
  const run: BashRun = {
    id,
    command,
    description: description ?? command,
    directory,
    shell,
    output,
    context,
  };
  if (isBackground) {
    const limitMs = Math.min(timeout ?? BACKGROUND_TIMEOUT_MS, MAX_BACKGROUND_TIMEOUT_MS);
    return inBackground(run, limitMs);
  }
  const limitMs = Math.min(timeout ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  return inForeground(run, limitMs, signal, mayRunInBackground);
}

/** One running command. */
type BashRun = {
  readonly id: string;
  readonly command: string;
  readonly description: string;
  /** Where the command was started. */
  readonly directory: string;
  readonly shell: ShellCommand;
  readonly output: OutputSpool;
  readonly context: BuiltInContext;
};

function inBackground(run: BashRun, limitMs: number): ToolOutcome {
  const { id, output } = run;
  output.spool();
  const task = startTask(run, true);
  void settleTask(run, task, limitMs);
  return {
    content: `Command running in background with ID: ${id}. Output is being written to: ${output.path}. You will be notified when it completes. To check interim output, use Read on that file path.`,
    isError: false,
    programResult: { ...NO_OUTPUT, backgroundTaskId: id },
  };
}

async function inForeground(
  run: BashRun,
  limitMs: number,
  signal: AbortSignal,
  mayRunInBackground: boolean,
): Promise<ToolOutcome> {
  const { shell } = run;
  let task: TaskHandle | undefined;
  const moved = Promise.withResolvers<'moved'>();
  const reporting = startTimer(REPORT_AFTER_MS, () => {
    if (mayRunInBackground) task = startTask(run, false, () => moved.resolve('moved'));
  });
  const timedOut = Promise.withResolvers<'timed-out'>();
  const limit = startTimer(limitMs, () => timedOut.resolve('timed-out'));
  const aborted = Promise.withResolvers<'aborted'>();
  const onAbort = () => aborted.resolve('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const how = await Promise.race([shell.ended, moved.promise, timedOut.promise, aborted.promise]);
  for (const timer of [reporting, limit]) clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  if (how === 'moved' || (how === 'timed-out' && mayRunInBackground)) {
    task ??= startTask(run, true);
    return moveToBackground(run, task, how === 'timed-out' ? limitMs : undefined);
  }
  if (how === 'timed-out' || how === 'aborted') await shell.stop();
  const outcome = await describeRun(run, how, limitMs);
  task?.ended({ status: outcome.isError ? 'failed' : 'completed', summary: summaryOf(run, how) });
  return outcome;
}

function moveToBackground(run: BashRun, task: TaskHandle, timedOutAfterMs: number | undefined): ToolOutcome {
  const { id, output } = run;
  output.spool();
  task.moveToBackground();
  void settleTask(run, task, MAX_BACKGROUND_TIMEOUT_MS);
  const why =
    timedOutAfterMs === undefined
      ? 'The command was moved to the background by the user'
      : `The command did not end within ${timedOutAfterMs} ms and was moved to the background`;
  const printed = output.head.trimEnd();
  return {
    content: `${printed === '' ? '' : `${printed}\n`}${why} (ID: ${id}). It is still running; its output is being written to: ${output.path}. You will be notified when it completes.`,
    isError: false,
    programResult: {
      ...NO_OUTPUT,
      stdout: printed,
      backgroundTaskId: id,
      ...(timedOutAfterMs === undefined ? { backgroundedByUser: true } : { timedOutAfterMs }),
    },
  };
}

function startTask(run: BashRun, isBackgrounded: boolean, onMove?: () => void): TaskHandle {
  const { id, command, description, directory, shell, output, context } = run;
  return context.tasks.start({
    id,
    type: 'local_bash',
    description,
    toolUseId: context.toolUseId,
    directory,
    isBackgrounded,
    outputFile: output.path,
    summary: { command },
    ...(onMove && { onMoveRequest: onMove }),
    stop: () => shell.stop(),
  });
}

/** Follows a command in the background to its end. */
async function settleTask(run: BashRun, task: TaskHandle, limitMs: number): Promise<void> {
  const { shell, output } = run;
  const limit = startTimer(limitMs, () => void shell.stop());
  limit.unref();
  const end = await shell.ended;
  clearTimeout(limit);
  await keepGroup(run);
  output.push(`\n[${end.kind === 'exited' ? `exited with code ${end.code}` : endText(end)}]\n`);
  await output.close();
  const isDone = end.kind === 'exited' && end.code === 0;
  task.ended({
    status: isDone ? 'completed' : end.kind === 'stopped' ? 'killed' : 'failed',
    summary: summaryOf(run, end),
  });
}

/** Processes that the command left running end with the session. */
async function keepGroup({ shell, directory, context }: BashRun): Promise<number | undefined> {
  const left = await shell.leftRunning();
  if (!left) return undefined;
  context.background.add(left.group, directory, left.release);
  return left.group.leader;
}

async function describeRun(
  run: BashRun,
  end: ShellEnd | 'timed-out' | 'aborted',
  limitMs: number,
): Promise<ToolOutcome> {
  const { command, shell, output, context } = run;
  const leftRunning = await keepGroup(run);
  const moved = typeof end === 'object' ? context.moveShell(shell.directory) : undefined;
  await output.close();
  const text = await outputText(output);
  const notes = [
    ...(leftRunning === undefined ? [] : [backgroundNote(leftRunning)]),
    ...(moved === undefined ? [] : [moved]),
  ];
  const meaning =
    typeof end === 'object' && end.kind === 'exited' ? exitMeaning(command, end.code) : undefined;
  const fault = meaning === undefined ? faultOf(end, limitMs) : undefined;
  if (fault !== undefined)
    return { content: [fault, text, ...notes].filter((it) => it !== '').join('\n'), isError: true };
  const content = [text, ...notes].filter((it) => it !== '').join('\n') || '(Bash completed with no output)';
  // Both streams are in `stdout`, in the order they were written.
  const stdout = output.head.trimEnd();
  const isKept = output.isSpooled;
  return {
    content,
    isError: false,
    programResult: {
      ...NO_OUTPUT,
      stdout,
      ...(moved !== undefined && { stderr: `\n${moved}` }),
      ...(isSilent(command) && { noOutputExpected: true }),
      ...(meaning !== undefined && { returnCodeInterpretation: meaning }),
      ...(isKept && { persistedOutputPath: output.path, persistedOutputSize: output.length }),
    },
  };
}

/** The output for the model: whole, or the beginning and the path of the file with all of it. */
async function outputText(output: OutputSpool): Promise<string> {
  if (output.length <= MAX_OUTPUT) {
    if (output.isSpooled) await unlink(output.path).catch(() => {});
    return output.head.trimEnd();
  }
  if (!output.isSpooled) return `${output.head}\n[${output.length - MAX_OUTPUT} characters omitted]`;
  return [
    '<persisted-output>',
    `The output has ${output.length} characters. All of it is in ${output.path}, which you can read with Read. It begins:`,
    '',
    output.head.slice(0, PREVIEW_LENGTH).toWellFormed(),
    '…',
    '</persisted-output>',
  ].join('\n');
}

const NO_OUTPUT: BashOutput = {
  stdout: '',
  stderr: '',
  interrupted: false,
  isImage: false,
  noOutputExpected: false,
};

function faultOf(end: ShellEnd | 'timed-out' | 'aborted', limitMs: number): string | undefined {
  if (end === 'timed-out')
    return `Timed out after ${limitMs} ms; the command and its processes were terminated`;
  if (end === 'aborted') return 'Interrupted; the command and its processes were terminated';
  return end.kind === 'exited' && end.code === 0 ? undefined : capitalized(endText(end));
}

function endText(end: ShellEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exit code ${end.code}`;
    case 'killed':
      return `terminated by ${end.signal}`;
    case 'stopped':
      return 'stopped';
    case 'not-started':
      return `the shell could not be started: ${end.fault}`;
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function summaryOf({ description }: BashRun, end: ShellEnd | 'timed-out' | 'aborted'): string {
  const what = `Background command "${description}"`;
  if (typeof end === 'string' || end.kind === 'stopped') return `${what} was stopped`;
  if (end.kind === 'exited')
    return end.code === 0 ? `${what} completed (exit code 0)` : `${what} failed with exit code ${end.code}`;
  return `${what} failed: ${endText(end)}`;
}

function backgroundNote(group: number): string {
  return `[Processes are still running in the background; stop them with "kill -- -${group}", or they are stopped when this session ends]`;
}

/** The seconds of a `sleep` with which a command begins, if nothing but further commands follow it. */
export function leadingSleep(command: string): number {
  const [, number = '', unit = 's'] =
    /^\s*sleep\s+(\d+(?:\.\d+)?)([smhd]?)\s*(?:$|;|&&|\n)/.exec(command) ?? [];
  return number === '' ? 0 : Number(number) * (UNITS[unit || 's'] ?? 1);
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
