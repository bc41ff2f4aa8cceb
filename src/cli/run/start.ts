import type { Writable } from 'node:stream';
import type { SDKResultMessage } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { Options } from '../../sdk/options.ts';
import { neutralise } from '../chat/neutralise.ts';
import { failureTexts } from '../chat/result.ts';
import { missingModel, openAgent } from '../open-agent.ts';
import { Activity } from './activity.ts';
import { type OutputFormat, outputOf, succeeded } from './output.ts';
import { Unasked } from './unasked.ts';

export type Run = {
  readonly prompt: string;
  readonly format: OutputFormat;
  readonly verbosity: 'quiet' | 'verbose';
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
  try {
    await using client = await openAgent({
      ...run.options,
      canUseTool,
      onElicitation,
      abortController: ended,
      stderr: tell,
    });
    using interrupts = interruptedBySignal(client, ended);
    const result = await takeTurn(client, run, activity, output);
    for (const text of unasked.lines) fail(text);
    if (result && run.options.persistSession !== false) tell(sessionText(result));
    if (interrupts.count > 0) return INTERRUPTED;
    return result && succeeded(result) ? 0 : 1;
  } catch (cause) {
    if (ended.signal.aborted) return ended.signal.reason === INTERRUPTED ? INTERRUPTED : 1;
    return fail(messageOf(cause));
  }
}

const INTERRUPTED = 130;

function sessionText({ session_id }: SDKResultMessage): string {
  return `session ${session_id}: --resume ${session_id} goes on with it`;
}

async function takeTurn(
  client: AgentClient,
  run: Run,
  activity: Activity,
  output: Writable,
): Promise<SDKResultMessage | undefined> {
  for await (const message of client.turn(run.prompt)) {
    activity.received(message);
    const text = outputOf(run.format, message);
    if (text !== '') await written(output, text);
    if (message.type !== 'result') continue;
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

/** A reader that has left is no failure to speak of; there is only nobody to write for. */
function quietOutput(output: Writable, onGone: () => void): Writable {
  return output.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EPIPE') throw cause;
    onGone();
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
