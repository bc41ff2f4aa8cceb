import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import type { SDKResultMessage } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { Options } from '../../sdk/options/options.ts';
import { neutralise } from '../chat/neutralise.ts';
import { failureTexts, succeeded } from '../chat/result.ts';
import { retryText } from '../chat/retry-text.ts';
import { missingModel, openAgent } from '../open-agent.ts';
import { isReaderGone } from '../output-errors.ts';
import { Unasked } from '../unasked.ts';
import { Activity } from './activity.ts';
import { type OutputFormat, outputOf } from './output.ts';
import { ServerWatch } from './server-watch.ts';

export type Run = {
  readonly prompt: string;
  readonly format: OutputFormat;
  readonly verbosity: 'quiet' | 'verbose';
  /** `--fail-on-denied`: a denied tool call is told, and makes the exit code 3. */
  readonly failsOnDenied: boolean;
  readonly options: Options;
};

/** One turn on the streams of this process; gives its exit code. */
export async function startRun(run: Run, env: NodeJS.ProcessEnv): Promise<number> {
  const missing = missingModel(run.options, env);
  if (missing !== undefined) return fail(missing);
  const tell = (text: string) =>
    void (run.verbosity === 'verbose' && process.stderr.write(`${neutralise(text.trimEnd())}\n`));
  const activity = new Activity(tell, () => performance.now());
  const unasked = new Unasked((id, reason) => activity.denied(id, reason));
  const { canUseTool, onElicitation } = unasked;
  const ended = new AbortController();
  const output = quietOutput(process.stdout, () => ended.abort());
  quietOutput(process.stderr, () => {});
  using _ends = endedBySignal(ended);
  try {
    await using client = await openAgent({
      ...run.options,
      canUseTool,
      onElicitation,
      abortController: ended,
      stderr: run.options.pathToClaudeCodeExecutable === undefined ? (text) => noted(text, tell) : tell,
    });
    using interrupts = interruptedBySignal(client, ended);
    const result = await takeTurn(client, run, activity, output);
    for (const text of unasked.lines) fail(text);
    if (result && run.options.persistSession !== false) tell(sessionText(result));
    if (ended.signal.aborted) return exitCodeOf(ended.signal);
    if (interrupts.count > 0) return INTERRUPTED;
    if (run.failsOnDenied && result && result.permission_denials.length > 0) {
      fail(deniedText(result.permission_denials));
      return DENIED;
    }
    return result && succeeded(result) ? 0 : 1;
  } catch (cause) {
    if (ended.signal.aborted) return exitCodeOf(ended.signal);
    return fail(messageOf(cause));
  }
}

/** What our own agent has to say is for whoever runs it; what another one prints may be anything. */
function noted(text: string, tell: (text: string) => void): void {
  const [, note] = /^\[toolplane\] (.*)\n$/s.exec(text) ?? [];
  if (note === undefined) tell(text);
  else fail(note);
}

const INTERRUPTED = 130;
const DENIED = 3;

/** Names each denied tool once, with how often. */
function deniedText(denials: SDKResultMessage['permission_denials']): string {
  const counts = [...Map.groupBy(denials, ({ tool_name }) => tool_name)].map(([name, its]) =>
    its.length === 1 ? name : `${name} (${its.length} times)`,
  );
  const calls = denials.length === 1 ? '1 tool call was' : `${denials.length} tool calls were`;
  const allow = denials.length === 1 ? 'allow it by a rule' : 'allow them by rules';
  return `${calls} denied: ${counts.join(', ')}; ${allow}, or leave out --fail-on-denied`;
}

function exitCodeOf({ reason }: AbortSignal): number {
  return typeof reason === 'number' ? reason : 1;
}

function sessionText({ session_id }: SDKResultMessage): string {
  return `session ${session_id}: --resume ${session_id} goes on with it`;
}

async function takeTurn(
  client: AgentClient,
  run: Run,
  activity: Activity,
  output: WriteStream,
): Promise<SDKResultMessage | undefined> {
  const servers = new ServerWatch(client, fail);
  for await (const message of client.turn(run.prompt)) {
    activity.received(message);
    servers.received(message);
    if (message.type === 'system' && message.subtype === 'api_retry') fail(retryText(message));
    const text = outputOf(run.format, message);
    if (text !== '') await written(output, output.isTTY ? neutralise(text) : text);
    if (message.type !== 'result') continue;
    await servers.settled();
    if (!succeeded(message)) for (const reason of failureTexts(message)) fail(reason);
    return message;
  }
  return undefined;
}

/** The first signal interrupts the turn, which still has a result; the second ends everything. */
function interruptedBySignal(
  client: AgentClient,
  ended: AbortController,
): Disposable & { readonly count: number } {
  let count = 0;
  const onSignal = () => {
    count += 1;
    if (count > 1) ended.abort(INTERRUPTED);
    else client.interrupt().catch(() => ended.abort(INTERRUPTED));
  };
  process.on('SIGINT', onSignal);
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => void process.off('SIGINT', onSignal),
  };
}

/** Whoever sends these waits for no result: everything ends, and the exit code says by which signal. */
function endedBySignal(ended: AbortController): Disposable {
  const onTerminate = () => ended.abort(143);
  const onHangUp = () => ended.abort(129);
  process.on('SIGTERM', onTerminate).on('SIGHUP', onHangUp);
  return {
    [Symbol.dispose]: () => void process.off('SIGTERM', onTerminate).off('SIGHUP', onHangUp),
  };
}

/** Calls `onGone` once the reader is gone; main.ts reports every other error. */
function quietOutput<Output extends Writable>(output: Output, onGone: () => void): Output {
  return output.on('error', (cause: NodeJS.ErrnoException) => {
    if (isReaderGone(cause)) onGone();
  });
}

/** Resolves when there is room for more; also when there never will be. */
function written(output: Writable, text: string): Promise<void> {
  return new Promise((resolve) => output.write(text, () => resolve()));
}

function fail(text: string): 1 {
  process.stderr.write(`toolplane: ${neutralise(text)}\n`);
  return 1;
}
