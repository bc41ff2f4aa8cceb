import { setTimeout as delay } from 'node:timers/promises';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

export const INTERRUPTED = 'The call was interrupted before it gave a result; it may have run.';
/** What a call that was cut off gets to say what it did until then. */
const LAST_WORDS_MS = 1_500;
const NOT_STARTED = 'The call was interrupted before it was started.';

/** What happens to calls, in the order it happens. */
type CallEvents = {
  started(call: ToolCall): void;
  finished(call: ToolCall, outcome: ToolOutcome): void;
};

/**
 * Prepares the calls of one message in order, runs neighbours that allow it side by side, and gives one outcome a call
 * in the calls' own order, whatever happens: a throw, a rejection or an interrupt is an outcome too.
 */
export async function runCalls(
  calls: readonly ToolCall[],
  prepare: (call: ToolCall, signal: AbortSignal) => Promise<PreparedCall>,
  events: CallEvents,
  signal: AbortSignal,
): Promise<ToolOutcome[]> {
  const outcomes: Promise<ToolOutcome>[] = [];
  let beside: Promise<unknown>[] = [];
  for (const call of calls) {
    const prepared = signal.aborted ? answered(NOT_STARTED) : await prepareSafely(call, prepare, signal);
    const isAlone = prepared.kind === 'run' && prepared.beside === 'none';
    if (isAlone) {
      await Promise.all(beside);
      beside = [];
    }
    const outcome = perform(call, prepared, events, signal);
    outcomes.push(outcome);
    if (isAlone) await outcome;
    else beside.push(outcome);
  }
  return Promise.all(outcomes);
}

async function perform(
  call: ToolCall,
  prepared: PreparedCall,
  events: CallEvents,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (prepared.kind === 'answered' || signal.aborted) {
    const outcome = prepared.kind === 'answered' ? prepared.outcome : failedOutcome(NOT_STARTED);
    events.finished(call, outcome);
    return outcome;
  }
  events.started(call);
  const outcome = await untilSettled(prepared.run(signal), signal).catch((thrown) =>
    failedOutcome(signal.aborted ? INTERRUPTED : messageOf(thrown)),
  );
  events.finished(call, outcome);
  return outcome;
}

async function prepareSafely(
  call: ToolCall,
  prepare: (call: ToolCall, signal: AbortSignal) => Promise<PreparedCall>,
  signal: AbortSignal,
): Promise<PreparedCall> {
  try {
    return await untilAborted(prepare(call, signal), signal);
  } catch (thrown) {
    return answered(signal.aborted ? NOT_STARTED : messageOf(thrown));
  }
}

function answered(text: string): PreparedCall {
  return { kind: 'answered', outcome: failedOutcome(text) };
}

/** The work's own end, also for a while after the signal: who was cut off may have done something worth telling. */
async function untilSettled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await untilAborted(work, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    const settled = new AbortController();
    const late = delay(LAST_WORDS_MS, undefined, { signal: settled.signal }).then(() => {
      throw thrown;
    });
    return await Promise.race([work, late]).finally(() => settled.abort());
  }
}

/** The work's own end, or the signal's, whichever comes first. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** One tool use of an assistant message. */
export type ToolCall = { readonly id: string; readonly name: string; readonly input: unknown };

/** What a call came to, as the model is told it. */
export type ToolOutcome = {
  readonly content: string | UserBlock[];
  readonly isError: boolean;
  /** What the program is told beside it, where that is more. */
  readonly told?: unknown;
};

/** A call once permissions and hooks have spoken: to be run, or already answered. */
export type PreparedCall =
  | {
      readonly kind: 'run';
      /** Calls that may run side by side with their neighbours: read-only or independent ones. */
      readonly beside: 'others' | 'none';
      /** Must not reject; what fails is an outcome. What it comes to more than a moment after `signal` aborted is not heard. */
      run(signal: AbortSignal): Promise<ToolOutcome>;
    }
  | { readonly kind: 'answered'; readonly outcome: ToolOutcome };

export function failedOutcome(text: string): ToolOutcome {
  return { content: text, isError: true };
}

export function resultBlock(call: ToolCall, { content, isError }: ToolOutcome): UserBlock {
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content,
    ...(isError && { is_error: true }),
  };
}
