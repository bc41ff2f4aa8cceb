import { startTimer } from '../../../base/async/timers.ts';
import { truncate } from '../../../base/text/display-text.ts';
import type { MonitorOutput } from '../../../protocol/tools/task-tools.ts';
import { toolUseError } from '../../loop/run-calls.ts';
import { newTaskId, type TaskEnd, type TaskHandle } from '../../tasks/background-tasks.ts';
import { type BuiltInContext, defineBuiltIn } from '../built-in.ts';
import { OutputSpool } from './output-spool.ts';
import type { ShellCommand, ShellEnd } from './shell-command.ts';

const DEFAULT_TIMEOUT_MS = 300_000;
const MAX_TIMEOUT_MS = 1_800_000;
/** Lines that arrive within this time are one event. */
const EVENT_MS = 200;
/** Maximum number of characters of an event; the output file has all lines. */
const MAX_EVENT_LENGTH = 4_000;
/** Maximum number of events in a minute; a command with more is stopped, because each event causes a model request. */
const MAX_EVENTS_PER_MINUTE = 60;

/** Runs a command whose output lines are events for the model. */
export const MONITOR = defineBuiltIn({
  name: 'Monitor',
  description:
    'Watches something while you work: runs a command in the background, and notifies you of each line that it prints and of its end. ' +
    'Use it for what happens now and then, such as errors in a log (tail -n 0 -f app.log | grep --line-buffered ERROR); print only lines that matter. ' +
    'To be notified only of the end of a command, use Bash with run_in_background instead. TaskStop ends a monitor.',
  annotations: { title: 'Monitor', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  required: {
    description: { type: 'string', minLength: 1, description: 'What is watched, in five to ten words.' },
  },
  optional: {
    command: {
      type: 'string',
      minLength: 1,
      description: 'The command, as for bash -c. Each line of its output is an event.',
    },
    timeout_ms: {
      type: 'number',
      minimum: 1_000,
      description: `After this time the monitor ends; ${DEFAULT_TIMEOUT_MS} by default, at most ${MAX_TIMEOUT_MS}.`,
    },
  },
  async run({ description, command, timeout_ms = DEFAULT_TIMEOUT_MS }, context) {
    if (command === undefined) return toolUseError('Missing required parameter: command');
    const timeoutMs = Math.min(timeout_ms, MAX_TIMEOUT_MS);
    const { ShellCommand: Command } = await import('./shell-command.ts');
    const id = newTaskId('b');
    const events = new MonitorEvents();
    const output = new OutputSpool(context.outputFile(id), (line) => events.add(line));
    output.spool();
    const { workspace, env } = context;
    const shell = new Command(command, { cwd: workspace.directory ?? workspace.cwd, env, output });
    const task = context.tasks.start({
      id,
      type: 'local_bash',
      description,
      toolUseId: context.toolUseId,
      directory: workspace.cwd,
      isBackgrounded: true,
      outputFile: output.path,
      summary: { command },
      stop: () => shell.stop(),
    });
    void follow({ shell, output, task, events, context, description, timeoutMs });
    const programResult: MonitorOutput = { taskId: id, timeoutMs, persistent: false };
    return {
      content: `The monitor runs (task ${id}). You are notified of each event, and of its end: when the command ends, or after ${timeoutMs / 1000} s. Do not poll or sleep; continue with other work. An event is not a message of the user.`,
      isError: false,
      programResult,
    };
  },
});

type Watched = {
  readonly shell: ShellCommand;
  readonly output: OutputSpool;
  readonly task: TaskHandle;
  readonly events: MonitorEvents;
  readonly context: BuiltInContext;
  readonly description: string;
  readonly timeoutMs: number;
};

/** Passes on the events of a monitor until its end. */
async function follow(watched: Watched): Promise<void> {
  const { shell, output, task, events, context, description, timeoutMs } = watched;
  let why: string | undefined;
  const stop = (reason: string) => {
    why ??= reason;
    void shell.stop();
  };
  events.start(
    (text) => task.event(text),
    () => stop(`stopped: more than ${MAX_EVENTS_PER_MINUTE} events in a minute; print fewer lines`),
  );
  const limit = startTimer(timeoutMs, () => stop(`expired after ${timeoutMs / 1000} s`));
  limit.unref();
  const end = await shell.ended;
  clearTimeout(limit);
  const left = await shell.leftRunning();
  if (left) context.background.add(left.group, context.workspace.cwd, left.release);
  await output.close();
  events.flush();
  task.ended(describeEnd(`Monitor "${description}"`, end, why));
}

function describeEnd(title: string, end: ShellEnd, why: string | undefined): TaskEnd {
  if (why !== undefined) return { status: 'completed', summary: `${title} ${why}` };
  switch (end.kind) {
    case 'exited':
      return end.code === 0
        ? { status: 'completed', summary: `${title} stream ended` }
        : { status: 'failed', summary: `${title} script failed (exit ${end.code})` };
    case 'stopped':
      return { status: 'killed', summary: `${title} was stopped` };
    case 'killed':
      return { status: 'failed', summary: `${title} script was terminated by ${end.signal}` };
    case 'not-started':
      return { status: 'failed', summary: `${title}: the shell could not be started: ${end.fault}` };
  }
}

/** Joins lines that arrive together to events, and counts the events of the last minute. */
class MonitorEvents {
  #lines: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #times: number[] = [];
  #send: ((text: string) => void) | undefined;
  #onFlood = () => {};

  start(send: (text: string) => void, onFlood: () => void): void {
    this.#send = send;
    this.#onFlood = onFlood;
    if (this.#lines.length > 0) this.#schedule();
  }

  add(line: string): void {
    this.#lines.push(line.slice(0, MAX_EVENT_LENGTH));
    if (this.#send) this.#schedule();
  }

  /** Sends the lines that have arrived since the last event. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#lines.splice(0).join('\n').trim();
    if (text === '') return;
    const now = performance.now();
    this.#times = [...this.#times.filter((at) => now - at < 60_000), now];
    if (this.#times.length > MAX_EVENTS_PER_MINUTE) this.#onFlood();
    else this.#send?.(truncate(text, MAX_EVENT_LENGTH, '… [more lines are in the output file]'));
  }

  #schedule(): void {
    this.#timer ??= startTimer(EVENT_MS, () => this.flush());
    this.#timer.unref();
  }
}
