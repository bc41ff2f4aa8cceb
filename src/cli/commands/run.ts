import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { WriteStream } from 'node:tty';
import { type Command, Option } from 'commander';
import { isRecord } from '../../base/json-value.ts';
import type { SDKMessage, SDKResultMessage } from '../../protocol/agent-message.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { Options } from '../../sdk/options/options.ts';
import { missingModel, openAgent, ServerWatch } from '../chat/conversation.ts';
import { failureTexts, retryText, succeeded } from '../chat/message-text.ts';
import { Unattended, unattendedOptions } from '../chat/questions/unattended.ts';
import { show, type ViewEvent } from '../chat/show.ts';
import { EMPTY_VIEW, type View } from '../chat/view.ts';
import { addAgentFlags, agentOptions, type FlagValues } from '../flags/agent-flags.ts';
import { parseJsonFlag } from '../flags/flag-values.ts';
import { onSignals } from '../host/with-host.ts';
import { exitWith, reportError } from '../output/failure.ts';
import { isReaderGone } from '../output/output-errors.ts';
import { render } from '../terminal/render.ts';
import { sanitize } from '../terminal/terminal-text.ts';

const HELP = `
The prompt is read from the arguments or from stdin:

  toolplane run "Which files are there?"
  git diff | toolplane run "Review this:" -      - appends stdin to the prompt

The run is non-interactive: calls that require approval are denied and reported on stderr with the rule that would allow
them. If an enabled channel can answer permission requests, the run waits for its answer.

With --fail-on-denied the exit code is 3 if any tool call was denied: by a rule, a mode, a hook, or because it required
approval. With --output-format json the result lists these calls as permission_denials.

Exit codes:
  0    the turn succeeded
  1    the turn failed, or no model is configured; the reason is on stderr
  2    usage error
  3    a tool call was denied (only with --fail-on-denied)
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane run "prompt"`: runs one turn for scripts. */
export function defineRun(command: Command): void {
  addAgentFlags(command)
    .argument('[prompt...]', 'the prompt; - for stdin')
    .addOption(
      new Option(
        '-o, --output-format <format>',
        'what to print: text (the final reply), json (the result message), stream-json (every message)',
      )
        .choices(OUTPUT_FORMATS)
        .default('text'),
    )
    .option('--json', 'short for --output-format json')
    .option(
      '--json-schema <file>',
      'let the model return data that matches this JSON Schema, a file or JSON text, instead of text',
    )
    .option('--include-partial-messages', 'with stream-json: print partial messages too')
    .option('--fail-on-denied', 'exit with 3 if any tool call was denied')
    .option('--verbose', 'report tool calls and the session id on stderr')
    .addHelpText('after', HELP)
    .action(async (args: string[], values: FlagValues, command: Command) => {
      const prompt = await readPrompt(args);
      if (prompt.trim() === '')
        command.error('error: no prompt given; pass it as an argument or on stdin', { exitCode: 2 });
      exitWith(
        await startRun(
          {
            prompt,
            format: values.json ? 'json' : (values.outputFormat as OutputFormat),
            verbosity: values.verbose ? 'verbose' : 'quiet',
            failsOnDenied: values.failOnDenied === true,
            options: { ...agentOptions(command), ...partials(values), ...outputFormat(values, command) },
          },
          process.env,
        ),
      );
    });
}

function partials({ includePartialMessages }: FlagValues): { includePartialMessages?: true } {
  return includePartialMessages ? { includePartialMessages: true } : {};
}

/** `--json-schema`; the agent checks the schema itself. */
function outputFormat({ jsonSchema }: FlagValues, command: Command): Pick<Options, 'outputFormat'> {
  if (typeof jsonSchema !== 'string') return {};
  try {
    const { value, where } = parseJsonFlag('--json-schema', jsonSchema, 'bad-option');
    if (isRecord(value)) return { outputFormat: { type: 'json_schema', schema: value } };
    return command.error(`error: ${sanitize(where)}: must be an object`, { exitCode: 2 });
  } catch (cause) {
    if (!(cause instanceof SdkError)) throw cause;
    return command.error(`error: ${sanitize(cause.message)}`, { exitCode: 2 });
  }
}

/** Stdin replaces a `-`, and is the prompt if there are no arguments; a terminal is not read. */
async function readPrompt(args: readonly string[]): Promise<string> {
  if (args.length > 0 && !args.includes('-')) return args.join(' ');
  if (process.stdin.isTTY && args.length === 0) return '';
  const input = await text(process.stdin);
  const prompt = args.filter((word) => word !== '-').join(' ');
  return prompt === '' ? input : `${prompt}\n\n${input}`;
}

export type Run = {
  readonly prompt: string;
  readonly format: OutputFormat;
  readonly verbosity: 'quiet' | 'verbose';
  /** `--fail-on-denied`: a denied tool call is reported and sets the exit code to 3. */
  readonly failsOnDenied: boolean;
  readonly options: Options;
};

/** Tools that ask the user, which this command cannot do. */
const FOR_PEOPLE: readonly string[] = ['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode'];

/** Runs one turn on the streams of this process; returns its exit code. */
export async function startRun(run: Run, env: NodeJS.ProcessEnv): Promise<number> {
  const missing = await missingModel(run.options, env);
  if (missing !== undefined) return reportError(missing);
  const report = (text: string) =>
    void (run.verbosity === 'verbose' && process.stderr.write(`${sanitize(text.trimEnd())}\n`));
  const activity = new Activity(report, () => performance.now());
  const unattended = new Unattended((id, reason) => activity.denied(id, reason), reportError);
  const { canUseTool, onElicitation } = unattended;
  const ended = new AbortController();
  const output = quietOutput(process.stdout, () => ended.abort());
  quietOutput(process.stderr, () => {});
  // SIGTERM and SIGHUP abort without a result; the exit code names the signal.
  using _ends = onSignals({ SIGTERM: () => ended.abort(143), SIGHUP: () => ended.abort(129) });
  try {
    await using client = await openAgent({
      ...run.options,
      ...unattendedOptions(run.options),
      disallowedTools: [...(run.options.disallowedTools ?? []), ...FOR_PEOPLE],
      canUseTool,
      onElicitation,
      abortController: ended,
      stderr: run.options.pathToClaudeCodeExecutable === undefined ? (text) => noted(text, report) : report,
    });
    using interrupts = interruptedBySignal(client, ended);
    const result = await takeTurn(client, run, activity, output);
    for (const text of unattended.lines) reportError(text);
    if (result && run.options.persistSession !== false) report(sessionText(result));
    if (ended.signal.aborted) return exitCodeOf(ended.signal);
    if (interrupts.count > 0) return INTERRUPTED;
    if (run.failsOnDenied && result && result.permission_denials.length > 0) {
      reportError(deniedText(result.permission_denials));
      return DENIED;
    }
    return result && succeeded(result) ? 0 : 1;
  } catch (cause) {
    if (ended.signal.aborted) return exitCodeOf(ended.signal);
    return reportError(messageOf(cause));
  }
}

/** Prints text of the agent's stderr: notes of the built-in agent as messages, other text unchanged. */
function noted(text: string, report: (text: string) => void): void {
  const [, note] = /^\[toolplane\] (.*)\n$/s.exec(text) ?? [];
  if (note === undefined) report(text);
  else reportError(note);
}

const INTERRUPTED = 130;
const DENIED = 3;

/** Names each denied tool once, with the number of its denied calls. */
function deniedText(denials: SDKResultMessage['permission_denials']): string {
  const counts = [...Map.groupBy(denials, ({ tool_name }) => tool_name)].map(([name, its]) =>
    its.length === 1 ? name : `${name} (${its.length} times)`,
  );
  const calls = denials.length === 1 ? '1 tool call was' : `${denials.length} tool calls were`;
  const allow =
    denials.length === 1
      ? 'allow it with --allowed-tools or permissions.allow'
      : 'allow them with --allowed-tools or permissions.allow';
  return `${calls} denied: ${counts.join(', ')}; ${allow}, or omit --fail-on-denied`;
}

function exitCodeOf({ reason }: AbortSignal): number {
  return typeof reason === 'number' ? reason : 1;
}

function sessionText({ session_id }: SDKResultMessage): string {
  return `session ${session_id}: resume it with --resume ${session_id}`;
}

async function takeTurn(
  client: AgentClient,
  run: Run,
  activity: Activity,
  output: WriteStream,
): Promise<SDKResultMessage | undefined> {
  const servers = new ServerWatch(client, reportError);
  for await (const message of client.turn(run.prompt)) {
    activity.received(message);
    servers.received(message);
    if (message.type === 'system' && RETRIES.has(message.subtype)) reportError(retryText(message));
    const text = outputOf(run.format, message);
    if (text !== '') await written(output, output.isTTY ? sanitize(text) : text);
    if (message.type !== 'result') continue;
    await servers.settled();
    if (!succeeded(message)) for (const reason of failureTexts(message)) reportError(reason);
    return message;
  }
  return undefined;
}

/** The messages about failed model requests. */
const RETRIES: ReadonlySet<string> = new Set(['api_retry', 'model_fallback']);

/** The first SIGINT interrupts the turn, which still returns a result; the second one aborts. */
function interruptedBySignal(
  client: AgentClient,
  ended: AbortController,
): Disposable & { readonly count: number } {
  let count = 0;
  const signals = onSignals({
    SIGINT() {
      count += 1;
      if (count > 1) ended.abort(INTERRUPTED);
      else client.interrupt().catch(() => ended.abort(INTERRUPTED));
    },
  });
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => signals[Symbol.dispose](),
  };
}

/** Calls `onGone` when the reader has closed the stream; main.ts reports every other error. */
function quietOutput<Output extends Writable>(output: Output, onGone: () => void): Output {
  return output.on('error', (cause: NodeJS.ErrnoException) => {
    if (isReaderGone(cause)) onGone();
  });
}

/** Resolves when the stream is drained, or has failed. */
function written(output: Writable, text: string): Promise<void> {
  return new Promise((resolve) => output.write(text, () => resolve()));
}

export const OUTPUT_FORMATS = ['text', 'json', 'stream-json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** What a message adds to stdout in each format. */
export function outputOf(format: OutputFormat, message: SDKMessage): string {
  switch (format) {
    case 'stream-json':
      return `${JSON.stringify(message)}\n`;
    case 'json':
      return message.type === 'result' ? `${JSON.stringify(message)}\n` : '';
    case 'text':
      return message.type === 'result' && succeeded(message) ? `${message.result}\n` : '';
  }
}

/** Reports tool calls as the chat shows them; the model's text goes to stdout. */
export class Activity {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #view: View = { ...EMPTY_VIEW, isBrief: true };

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  received(message: SDKMessage): void {
    this.#happened({ kind: 'received', message, at: this.#now() });
  }

  denied(id: string, reason: string): void {
    const verdict = { behavior: 'deny', by: 'non-interactive', reason } as const;
    this.#happened({ kind: 'decided', id, verdict, at: this.#now() });
  }

  #happened(event: ViewEvent): void {
    const { view, pieces } = show(this.#view, event);
    this.#view = view;
    for (const piece of pieces) {
      if (piece.kind === 'line' && piece.overflow === 'cut') this.#write(render(piece, LOOK));
    }
  }
}

/** Format of the lines on stderr, which may be a log: cut at 200 columns, without colors. */
const LOOK = { columns: 200, hasColors: false };
