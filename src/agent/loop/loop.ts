import { within } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import {
  type CollectedMessage,
  isThinking,
  MessageCollector,
  type ReplyHead,
} from '../models/message-collector.ts';
import {
  type Model,
  ModelError,
  type ModelErrorCode,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
} from '../models/model.ts';
import { isTransient } from '../models/retry.ts';
import { type RemovedImages, withoutImages } from '../models/sanitize-request.ts';
import { CONTINUATIONS, type Interruption, interruptionError, interruptionOf } from './continuation.ts';
import {
  type CallEvent,
  failedOutcome,
  INTERRUPTED,
  type PrepareCall,
  resultBlock,
  runCalls,
  type ToolOutcome,
  type ToolUse,
} from './run-calls.ts';

/** The conversation a loop appends to. However the loop ends, a model accepts it: each `tool_use` has its `tool_result`. */
export type LoopContext = { readonly messages: ModelMessage[] };

/** The part of a request beside the conversation. It is computed for each request, because servers connect and disconnect. */
export type Round = Pick<ModelRequest, 'system' | 'tools' | 'cacheAfterTool'>;

export type LoopConfig = {
  readonly model: Model;
  readonly modelName: string;
  readonly maxTokens: number;
  readonly thinking?: ModelRequest['thinking'];
  readonly effort?: ModelRequest['effort'];
  /** The maximum number of model replies; unlimited by default. */
  readonly maxTurns?: number;
  /** Why the budget ends the loop; undefined while it is not spent. */
  budgetError?(): string | undefined;
  /** Settles when the reader of the events can take more; undefined if it can now. */
  readerReady?(): Promise<void> | undefined;
  round(): Round | Promise<Round>;
  /** Resolves the tool of a call and decides whether it may run. */
  readonly prepare: PrepareCall;
  /** Called after all calls of one reply have an outcome. */
  batchDone?(
    calls: readonly ToolUse[],
    outcomes: readonly ToolOutcome[],
    signal: AbortSignal,
  ): Promise<BatchEnd>;
  /** A user message that makes the loop continue instead of ending; undefined if the loop may end. */
  beforeEnd?(signal: AbortSignal): Promise<string | undefined>;
  /** Compacts the conversation if needed; returns whether it did. Called before every request. */
  compactIfNeeded?(
    messages: ModelMessage[],
    round: Round,
    reason: CompactReason,
    signal: AbortSignal,
  ): Promise<boolean>;
};

/** Texts for the model that follow the results of a batch, and why the loop ends after it, if it does. */
export type BatchEnd = {
  readonly texts: readonly string[];
  /** Why a hook stopped the agent. */
  readonly stop?: string;
  /** The model has given the structured output, or failed to too often. */
  readonly output?: 'given' | { readonly fault: string };
};

/** `filling`: the window may be filling up. `too-long`: the model rejected the request for its length. */
type CompactReason = 'filling' | 'too-long';

/** The model of the next request; a fallback changes it. */
type CurrentModel = { given: string; name: string };

/** Every observable step of the loop. */
export type LoopEvent =
  | { kind: 'requested' }
  | { kind: 'block-finished'; block: ModelBlock; reply: ReplyHead }
  | { kind: 'streamed'; event: ModelEvent }
  /** The part of a reply that broke off, which a repeated request replaces. */
  | { kind: 'discarded'; usage: Usage; model: string }
  /** `model` is the name that the request was sent with; the endpoint may report another one. */
  | { kind: 'replied'; message: CollectedMessage; model: string }
  | CallEvent
  /** `isSilent` if no call was made, because the budget is spent. */
  | { kind: 'results-added'; content: readonly UserBlock[]; isSilent?: true }
  /** A text of the agent itself; `refused` is the id of the reply that it is about, if the model refused. */
  | { kind: 'text-added'; content: readonly UserBlock[]; refused?: string }
  /** The model rejected images, and accepted the request without them. */
  | { kind: 'images-removed'; which: RemovedImages };

export type LoopEnd = {
  readonly reason: 'done' | 'max-turns' | 'budget' | 'interrupted' | 'stopped' | 'no-output' | 'deferred';
  readonly turns: number;
  readonly usage: Usage;
  /** Why a hook or the budget stopped the loop, or why there is no structured output. */
  readonly stopReason?: string;
  /** The first call that a hook deferred. */
  readonly deferred?: ToolUse;
  /** Whether the interrupt came while the calls of a reply were handled, not while the model replied. */
  readonly isDuringCalls?: boolean;
};

const BUDGET_SPENT = 'The call was not made, because the budget was spent.';
const REFUSED = 'The call was not made, because a safety classifier stopped the reply.';

/**
 * Asks the model and runs the tools it calls, until a reply calls no tool. Rejects only if the model fails; an interrupt
 * by the signal is a normal end.
 */
export async function loop(
  context: LoopContext,
  config: LoopConfig,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<LoopEnd> {
  let usage = NO_USAGE;
  const continued: Record<Interruption, number> = { length: 0, broken: 0, empty: 0, refused: 0 };
  let continuations = 0;
  let isDuringCalls = false;
  const current = { given: config.modelName, name: config.modelName };
  for (let turns = 0; ; ) {
    if (signal.aborted) return { reason: 'interrupted', turns, usage, isDuringCalls };
    // The first request is always sent, also with a limit below 1. Continuations do not count.
    if (turns > 0 && turns - continuations + 1 > (config.maxTurns ?? Infinity))
      return { reason: 'max-turns', turns, usage };
    const spent = config.budgetError?.();
    if (spent !== undefined) return { reason: 'budget', turns, usage, stopReason: spent };
    const { reply, fault } = await requestReply(context, config, current, emitCounted, signal);
    const hasStarted = reply.id !== '';
    if (signal.aborted && !hasStarted) return { reason: 'interrupted', turns, usage };
    turns++;
    usage = addUsage(usage, reply.usage);
    if (reply.content.length > 0) context.messages.push({ role: 'assistant', content: reply.content });
    emit({ kind: 'replied', message: reply, model: current.name });
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    const overspent = config.budgetError?.();
    if (overspent !== undefined) {
      addUnansweredResults(calls, BUDGET_SPENT, context, (event) => emit({ ...event, isSilent: true }));
      return { reason: 'budget', turns, usage, stopReason: overspent };
    }
    const why = interruptionOf(reply, fault !== undefined);
    if (why === 'refused') addUnansweredResults(calls, REFUSED, context, emit);
    isDuringCalls = calls.length > 0 && why !== 'refused';
    if (isDuringCalls) {
      const outcomes = await runCalls(calls, config.prepare, emit, signal);
      const results = calls.map((call, index) =>
        resultBlock(call, outcomes[index] ?? failedOutcome(INTERRUPTED)),
      );
      const deferred = signal.aborted ? undefined : calls.find((_, index) => outcomes[index]?.isDeferred);
      if (deferred) {
        addResults(results, context, emit);
        return { reason: 'deferred', turns, usage, deferred };
      }
      const batch = signal.aborted ? undefined : await config.batchDone?.(calls, outcomes, signal);
      const notes = batch?.texts.map((text) => ({ type: 'text' as const, text })) ?? [];
      addResults([...results, ...notes], context, emit);
      if (batch?.stop !== undefined) return { reason: 'stopped', turns, usage, stopReason: batch.stop };
      if (batch?.output === 'given') return { reason: 'done', turns, usage };
      if (batch?.output) return { reason: 'no-output', turns, usage, stopReason: batch.output.fault };
      continue;
    }
    if (signal.aborted) return { reason: 'interrupted', turns, usage };
    const isContinued = why !== undefined && continued[why]++ < CONTINUATIONS[why].max;
    if (isContinued) continuations++;
    else if (why) {
      const error = fault ?? interruptionError(why, reply, { ...config, model: current.name });
      if (error) throw error;
    }
    const next = isContinued ? CONTINUATIONS[why].text : await config.beforeEnd?.(signal);
    if (next === undefined) return { reason: 'done', turns, usage };
    const content = [{ type: 'text' as const, text: next }];
    context.messages.push({ role: 'user', content });
    emit({ kind: 'text-added', content, ...(why === 'refused' && { refused: reply.id }) });
  }

  function emitCounted(event: LoopEvent): void {
    if (event.kind === 'discarded') usage = addUsage(usage, event.usage);
    emit(event);
  }
}

function addResults(
  content: readonly UserBlock[],
  { messages }: LoopContext,
  emit: (event: Extract<LoopEvent, { kind: 'results-added' }>) => void,
): void {
  messages.push({ role: 'user', content });
  emit({ kind: 'results-added', content });
}

/** The model rejects a conversation with calls that have no result. */
function addUnansweredResults(
  calls: readonly ToolUse[],
  why: string,
  context: LoopContext,
  emit: (event: Extract<LoopEvent, { kind: 'results-added' }>) => void,
): void {
  if (calls.length === 0) return;
  addResults(
    calls.map((call) => resultBlock(call, failedOutcome(why))),
    context,
    emit,
  );
}

/** A reply; if it broke off after complete blocks, those blocks and the error. */
type Answer = { readonly reply: CollectedMessage; readonly fault?: ModelError };

/** One reply of the model. An interrupt in the middle returns the part that has arrived. */
async function requestReply(
  context: LoopContext,
  config: LoopConfig,
  current: CurrentModel,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<Answer> {
  const { messages } = context;
  const collector = new MessageCollector();
  const images = new ImageRemoval(messages);
  try {
    const round = await config.round();
    await config.compactIfNeeded?.(messages, round, 'filling', signal);
    const shorten = async () => {
      const isShorter = (await config.compactIfNeeded?.(messages, round, 'too-long', signal)) === true;
      if (isShorter) images.forget();
      return isShorter;
    };
    const send = () => stream(messages, round, config, current, collector, emitAccepted, signal);
    await withRepairs(send, { 'too-long': shorten, 'bad-image': async () => images.remove() });
  } catch (thrown) {
    const reply = collector.message;
    if (!signal.aborted && thrown instanceof ModelError && isTransient(thrown) && hasContent(reply))
      return { reply, fault: thrown };
    if (!signal.aborted) {
      discard(collector, current.name, emit);
      throw thrown;
    }
  } finally {
    images.undo();
  }
  return { reply: collector.message };

  function emitAccepted(event: LoopEvent): void {
    if (event.kind === 'streamed')
      for (const which of images.accept()) emit({ kind: 'images-removed', which });
    emit(event);
  }
}

/** Whether more than the thoughts of a reply has arrived. */
function hasContent({ content }: CollectedMessage): boolean {
  return !content.every(isThinking);
}

function discard(collector: MessageCollector, model: string, emit: (event: LoopEvent) => void): void {
  const { id, usage } = collector.head;
  if (id !== '') emit({ kind: 'discarded', usage, model });
}

/** Repeats a request that the model rejected, while a repair changes the conversation; each kind once, images twice. */
async function withRepairs(
  send: () => Promise<void>,
  repairs: Readonly<Partial<Record<ModelErrorCode, () => Promise<boolean>>>>,
): Promise<void> {
  for (let hasShortened = false; ; ) {
    try {
      return await send();
    } catch (thrown) {
      if (!(thrown instanceof ModelError)) throw thrown;
      const isTooLong = thrown.code === 'too-long';
      if ((isTooLong && hasShortened) || !(await repairs[thrown.code]?.())) throw thrown;
      hasShortened ||= isTooLong;
    }
  }
}

/** Removes images that the model rejects; the removal is undone unless the model accepts the repeated request. */
class ImageRemoval {
  readonly #messages: ModelMessage[];
  #removed: RemovedImages[] = [];
  /** The messages with their images; undefined if there is nothing to undo. */
  #before: readonly ModelMessage[] | undefined;

  constructor(messages: ModelMessage[]) {
    this.#messages = messages;
  }

  /** Removes the images since the last reply or, if there are none, all images. */
  remove(): boolean {
    for (const which of ['latest', 'all'] as const) {
      const without = withoutImages(this.#messages, which);
      if (!without) continue;
      this.#before ??= [...this.#messages];
      this.#removed.push(which);
      this.#replace(without);
      return true;
    }
    return false;
  }

  /** Keeps the removal, and returns what was removed. */
  accept(): RemovedImages[] {
    this.#before = undefined;
    return this.#removed.splice(0);
  }

  /** Called after a compaction, which replaces the messages: the removal can no longer be undone. */
  forget(): void {
    this.#before = undefined;
  }

  undo(): void {
    if (this.#before) this.#replace(this.#before);
    this.#before = undefined;
  }

  #replace(messages: readonly ModelMessage[]): void {
    this.#messages.splice(0, this.#messages.length, ...messages);
  }
}

async function stream(
  messages: readonly ModelMessage[],
  round: Round,
  config: LoopConfig,
  current: CurrentModel,
  collector: MessageCollector,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { model, maxTokens, thinking, effort } = config;
  const request: ModelRequest = {
    ...round,
    model: current.given,
    messages,
    maxTokens,
    ...(thinking && { thinking }),
    ...(effort && { effort }),
    signal,
    // After a fallback, the rest of the turn uses the fallback model.
    onAttempt: (attempted) => void Object.assign(current, attempted),
    onRequestId: (id) => collector.begin(id),
  };
  emit({ kind: 'requested' });
  let sentTo = current.name;
  for await (const event of model.stream(request)) {
    if (event.type === 'message_start') {
      discard(collector, sentTo, emit);
      sentTo = current.name;
    }
    const block = collector.add(event);
    if (block) emit({ kind: 'block-finished', block, reply: collector.head });
    emit({ kind: 'streamed', event });
    const ready = config.readerReady?.();
    if (ready !== undefined) await within(Number.POSITIVE_INFINITY, ready, signal);
  }
}

export const NO_USAGE: Usage = Object.freeze({ input_tokens: 0, output_tokens: 0 });

/** The sum of two usages, also of the counts in members such as `cache_creation`; other members are taken from the first. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = addCounts(a, b);
  for (const [name, value] of Object.entries(b)) {
    if (name === '__proto__' || !isRecord(value)) continue;
    const before = Object.hasOwn(a, name) ? a[name] : undefined;
    sum[name] = addCounts(isRecord(before) ? before : {}, value);
  }
  return sum as Usage;
}

type Counts = Readonly<Record<string, unknown>>;

function addCounts(a: Counts, b: Counts): Record<string, unknown> {
  const sum: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    if (typeof value !== 'number') continue;
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    sum[name] = (typeof before === 'number' ? before : 0) + value;
  }
  return sum;
}
