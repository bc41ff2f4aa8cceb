import { setTimeout as delay } from 'node:timers/promises';
import { untilAborted } from '../../base/async/timers.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { inputError } from '../models/message-collector.ts';

/** A `tool_use` block of an assistant message. */
export type ToolUse = { readonly id: string; readonly name: string; readonly input: unknown };

/** The result of a call, as the model gets it. */
export type ToolOutcome = {
  readonly content: string | UserBlock[];
  readonly isError: boolean;
  /** The result for the program, if that holds more than the content for the model. */
  readonly programResult?: unknown;
  /** Texts for the model after the results of the round, such as the instructions of a skill. Programs get each as a message. */
  readonly followUp?: readonly string[];
  /** Whether a hook deferred the call: the turn ends, and programs get no result of the call. */
  readonly isDeferred?: boolean;
  /** Whether the call failed because the turn was interrupted. */
  readonly isInterrupted?: boolean;
};

/** A call after its permission was decided: ready to run, or answered already. */
export type PreparedCall =
  | {
      readonly kind: 'run';
      /** Whether the call may run side by side with its neighbours, because it only reads or is independent. */
      readonly isConcurrent: boolean;
      /** Must not reject. An outcome that comes later than a grace period after the signal aborted is dropped. */
      run(signal: AbortSignal): Promise<ToolOutcome>;
    }
  | { readonly kind: 'answered'; readonly outcome: ToolOutcome };

export type PrepareCall = (use: ToolUse, signal: AbortSignal) => Promise<PreparedCall>;

export type CallEvent =
  | { readonly kind: 'call-started'; readonly call: ToolUse }
  | { readonly kind: 'call-finished'; readonly call: ToolUse; readonly outcome: ToolOutcome };

export const INTERRUPTED = 'The call was interrupted before it returned a result; the tool may have run.';
const NOT_STARTED = 'The call was interrupted before it was started.';
/** How long an interrupted call may take to report what it has done. */
const INTERRUPT_GRACE_MS = 3_000;

/**
 * Prepares the calls of one message in order and runs neighbours that allow it side by side. Returns one outcome per
 * call, in the order of the calls; an exception or an interrupt is an outcome too.
 */
export async function runCalls(
  uses: readonly ToolUse[],
  prepare: PrepareCall,
  emit: (event: CallEvent) => void,
  signal: AbortSignal,
): Promise<ToolOutcome[]> {
  const outcomes: Promise<ToolOutcome>[] = [];
  let concurrent: Promise<unknown>[] = [];
  for (const call of uses) {
    const prepared = await prepareOrAnswer(call, prepare, signal);
    const isExclusive = prepared.kind === 'run' && !prepared.isConcurrent;
    if (isExclusive) {
      await Promise.all(concurrent);
      concurrent = [];
    }
    const outcome = run(call, prepared, emit, signal);
    outcomes.push(outcome);
    if (isExclusive) await outcome;
    else concurrent.push(outcome);
  }
  return Promise.all(outcomes);
}

export function failedOutcome(text: string): ToolOutcome {
  return { content: text, isError: true };
}

/** An error in the form that programs of the `claude` CLI know. */
export function toolUseError(text: string): ToolOutcome {
  return failedOutcome(`<tool_use_error>${text}</tool_use_error>`);
}

export function resultBlock({ id, name }: ToolUse, { content, isError }: ToolOutcome): UserBlock {
  // Programs expect the member in each result of `Bash`, and in other results only if they are errors.
  const error = isError || name === 'Bash' ? { is_error: isError } : {};
  return { type: 'tool_result', tool_use_id: id, content, ...error };
}

/** Prepares a call; a failure becomes the result of the call. */
async function prepareOrAnswer(
  call: ToolUse,
  prepare: PrepareCall,
  signal: AbortSignal,
): Promise<PreparedCall> {
  if (signal.aborted) return answered(NOT_STARTED);
  const error = inputError(call.name, call.input);
  if (error !== undefined) return answered(error);
  try {
    return await untilAborted(prepare(call, signal), signal);
  } catch (thrown) {
    return answered(signal.aborted ? NOT_STARTED : messageOf(thrown));
  }
}

async function run(
  call: ToolUse,
  prepared: PreparedCall,
  emit: (event: CallEvent) => void,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  let outcome: ToolOutcome;
  if (prepared.kind === 'answered') outcome = prepared.outcome;
  else if (signal.aborted) outcome = failedOutcome(NOT_STARTED);
  else {
    emit({ kind: 'call-started', call });
    outcome = await withGrace(prepared.run(signal), signal).catch((thrown) =>
      failedOutcome(signal.aborted ? INTERRUPTED : messageOf(thrown)),
    );
  }
  if (signal.aborted && outcome.isError) outcome = { ...outcome, isInterrupted: true };
  emit({ kind: 'call-finished', call, outcome });
  return outcome;
}

function answered(text: string): PreparedCall {
  return { kind: 'answered', outcome: failedOutcome(text) };
}

/** Settles as the work does; after an interrupt the work gets a grace period. */
async function withGrace<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await untilAborted(work, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    const settled = new AbortController();
    const late = delay(INTERRUPT_GRACE_MS, undefined, { signal: settled.signal }).then(() => {
      throw thrown;
    });
    return await Promise.race([work, late]).finally(() => settled.abort());
  }
}
