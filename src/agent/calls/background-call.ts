import { startTimer } from '../../base/async/timers.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { OutputSpool } from '../builtins/shell/output-spool.ts';
import type { ToolOutcome } from '../loop/run-calls.ts';
import { extensionOf } from '../results/binary.ts';
import { taskOutputPath } from '../results/result-files.ts';
import { newTaskId, type TaskHandle } from '../tasks/background-tasks.ts';
import type { CallContext, SessionContext } from './call-context.ts';
import type { PoolCall } from './pool-call.ts';
import type { CallRun } from './run-call.ts';

/** Maximum number of server calls in the background; the session waits for the results of further calls. */
const MAX_BACKGROUND_CALLS = 20;

/**
 * Prepares a call that may move to the background. Undefined for a call that never does: that of a built-in tool, or of a
 * sub-agent, which ends with its turn.
 */
export function openLongCall(call: PoolCall, context: CallContext, turn: AbortSignal): LongCall | undefined {
  const { session, agent } = context;
  const { backgroundCallsAfterMs: afterMs = 0 } = session;
  const isWaitedFor = call.server === undefined || afterMs === 0 || agent.parentToolUseId !== null;
  return isWaitedFor ? undefined : new LongCall(call, context, turn, afterMs);
}

/** The outcome of the call; undefined if the time limit passes first. */
async function endOrTimeout(
  ended: Promise<ToolOutcome>,
  afterMs: number,
  signal: AbortSignal,
): Promise<ToolOutcome | undefined> {
  // An interrupted call ends soon; it is not moved.
  if (signal.aborted) return ended;
  const elapsed = Promise.withResolvers<undefined>();
  const timer = startTimer(afterMs, () => elapsed.resolve(undefined));
  try {
    const outcome = await Promise.race([ended, elapsed.promise]);
    return outcome ?? (signal.aborted ? await ended : undefined);
  } finally {
    clearTimeout(timer);
  }
}

function countRunning({ tasks }: SessionContext): number {
  return tasks.running.filter(({ type }) => type === 'mcp_task').length;
}

/**
 * A call of a server that returns without its result if it takes longer than the session allows. The call continues in the
 * background, and the model is notified of the result.
 */
class LongCall implements CallRun {
  readonly context: CallContext;
  readonly #call: PoolCall;
  readonly #turn: AbortSignal;
  readonly #afterMs: number;
  readonly #stopping = new AbortController();
  readonly #startedAt = performance.now();
  readonly #onAbort = () => this.#stopping.abort(this.#turn.reason);
  /** Texts of hooks for the model, once no round waits for the call. */
  readonly #notes: string[] = [];
  #task: TaskHandle | undefined;

  constructor(call: PoolCall, context: CallContext, turn: AbortSignal, afterMs: number) {
    this.#call = call;
    this.#afterMs = afterMs;
    this.#turn = turn;
    // The accessors of the context read the state of the turn.
    this.context = Object.create(context, {
      addNote: { value: (text: string) => (this.#task ? this.#notes.push(text) : context.addNote(text)) },
    });
    turn.addEventListener('abort', this.#onAbort, { once: true });
    if (turn.aborted) this.#onAbort();
  }

  /** Aborts with the turn while the call is waited for, and if the background task is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The result of the call, or what the model gets instead. A call is not moved while the session waits for a person. */
  async outcome(ended: Promise<ToolOutcome>): Promise<ToolOutcome> {
    const { session } = this.context;
    for (;;) {
      const outcome = await endOrTimeout(ended, this.#afterMs, this.#turn);
      if (outcome) {
        this.#turn.removeEventListener('abort', this.#onAbort);
        return outcome;
      }
      if (!session.isWaiting() && countRunning(session) < MAX_BACKGROUND_CALLS)
        return this.#moveToBackground(ended);
    }
  }

  /** Receives progress while the call runs in the background; undefined while it is waited for. */
  get onProgress(): ((progress: object) => void) | undefined {
    const task = this.#task;
    if (!task) return undefined;
    return (progress) => {
      const { message } = progress as { readonly message?: unknown };
      task.progress({ ...(typeof message === 'string' && { description: message }), usage: this.#usage });
    };
  }

  /** Registers the call as a background task, which ends with the call. */
  #moveToBackground(ended: Promise<ToolOutcome>): ToolOutcome {
    const { id: toolUseId, name } = this.#call;
    const { session } = this.context;
    const id = newTaskId('m');
    const outputFile = taskOutputPath(session.results, id);
    this.#turn.removeEventListener('abort', this.#onAbort);
    const task = session.tasks.start({
      id,
      type: 'mcp_task',
      description: name,
      toolUseId,
      isBackgrounded: true,
      outputFile,
      stop: async () => {
        this.#stopping.abort();
        await settled;
      },
    });
    this.#task = task;
    const settled = ended.then((outcome) => this.#end(task, outcome, outputFile));
    const seconds = Math.round((performance.now() - this.#startedAt) / 100) / 10;
    return {
      content: `The call has not ended after ${seconds} s and continues in the background (ID: ${id}). You will be notified of its result when it ends. Until then its result is unknown: do other work, or answer the user. Do not repeat the call.`,
      isError: false,
      programResult: { backgroundTaskId: id, timedOutAfterMs: this.#afterMs },
    };
  }

  async #end(task: TaskHandle, outcome: ToolOutcome, outputFile: string): Promise<void> {
    const { results } = this.context.session;
    const text = await textOf(outcome, (bytes, extension) => results.store.save(bytes, extension));
    const output = new OutputSpool(outputFile);
    output.spool();
    output.push(text);
    await output.close();
    const wasStopped = this.signal.aborted;
    const end = wasStopped ? 'was stopped' : outcome.isError ? 'failed' : 'completed';
    task.ended({
      status: wasStopped ? 'killed' : outcome.isError ? 'failed' : 'completed',
      summary: `Call of ${this.#call.name} ${end}`,
      result: [text, ...this.#notes.map((note) => `[hook: ${note}]`)].join('\n'),
      usage: this.#usage,
    });
  }

  get #usage() {
    return { total_tokens: 0, tool_uses: 1, duration_ms: Math.round(performance.now() - this.#startedAt) };
  }
}

/** The text of a result. A notification has no images: they are saved to files, which the model can read. */
async function textOf(
  { content }: ToolOutcome,
  save: (bytes: Uint8Array, extension: string) => Promise<string>,
): Promise<string> {
  if (typeof content === 'string') return content;
  const texts = content.map(async (block) => {
    if (block.type === 'text') return block.text;
    const image = imageOf(block);
    if (!image) return `[${block.type}]`;
    return save(image.bytes, image.extension).then(
      (path) => `[${block.type}: ${path}]`,
      () => `[${block.type}: it could not be saved]`,
    );
  });
  return (await Promise.all(texts)).join('\n');
}

function imageOf(block: UserBlock): { readonly bytes: Uint8Array; readonly extension: string } | undefined {
  const { source } = block as {
    readonly source?: { readonly data?: unknown; readonly media_type?: unknown };
  };
  if (typeof source?.data !== 'string') return undefined;
  return { bytes: Buffer.from(source.data, 'base64'), extension: extensionOf(String(source.media_type)) };
}
