import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import {
  type CollectedMessage,
  invalidInput,
  MessageCollector,
  type ReplyHead,
} from '../models/message-collector.ts';
import {
  type Model,
  type ModelEvent,
  ModelFault,
  type ModelMessage,
  type ModelRequest,
} from '../models/model.ts';
import {
  failedOutcome,
  INTERRUPTED,
  type PreparedCall,
  resultBlock,
  runCalls,
  type ToolCall,
  type ToolOutcome,
} from './run-calls.ts';

/** The conversation a loop adds to. After every way out it is one a model accepts: each tool use has its result. */
export type LoopContext = { readonly messages: ModelMessage[] };

/** What a model is told beside the conversation, taken anew each round: servers come and go. */
export type Round = Pick<ModelRequest, 'system' | 'tools' | 'cacheAfterTool'>;

export type LoopConfig = {
  readonly model: Model;
  readonly modelName: string;
  readonly maxTokens: number;
  readonly thinking?: ModelRequest['thinking'];
  /** Most model replies before the loop stops; no limit by default. */
  readonly maxTurns?: number;
  /** Waited for before the next event of a reply is read; undefined if whoever hears of the events keeps up. */
  readerReady?(): Promise<void> | undefined;
  round(): Round | Promise<Round>;
  /** Decides about one call: permissions, hooks, which tool. */
  prepare(call: ToolCall, signal: AbortSignal): Promise<PreparedCall>;
  /** Hears of the calls of one reply once all have come to something. */
  batchDone?(
    calls: readonly ToolCall[],
    outcomes: readonly ToolOutcome[],
    signal: AbortSignal,
  ): Promise<BatchEnd>;
  /** A text the model must hear before the loop may end, if somebody wants it to go on. */
  beforeEnd?(signal: AbortSignal): Promise<string | undefined>;
  /** Makes the conversation shorter if it has to be; whether it did. Asked before every request. */
  makeRoom?(messages: ModelMessage[], round: Round, why: RoomReason, signal: AbortSignal): Promise<boolean>;
};

/** What is to follow a batch of calls: texts for the model beside the results, or the end. */
export type BatchEnd = { readonly texts: readonly string[]; readonly stop?: string };

/** The window may be filling, or the model has refused a request for its length. */
type RoomReason = 'filling' | 'too-long';

/** Every observable step, as a past fact. */
export type LoopEvent =
  | { kind: 'requested' }
  | { kind: 'block-finished'; block: ModelBlock; reply: ReplyHead }
  | { kind: 'streamed'; event: ModelEvent }
  | { kind: 'replied'; message: CollectedMessage }
  | { kind: 'call-started'; call: ToolCall }
  | { kind: 'call-finished'; call: ToolCall; outcome: ToolOutcome }
  | { kind: 'results-added'; content: readonly UserBlock[] }
  | { kind: 'text-added'; content: readonly UserBlock[] };

export type LoopEnd = {
  readonly reason: 'done' | 'max-turns' | 'interrupted' | 'stopped';
  readonly turns: number;
  readonly usage: Usage;
  /** Why somebody stopped it. */
  readonly why?: string;
};

/** How often a reply that was cut off by its length is continued before the loop takes it as it is. */
const MOST_CONTINUATIONS = 3;
const CONTINUE = 'Your reply was cut off by its length. Continue exactly where it stopped.';

/**
 * Model, tools, model, tools … until a reply calls no tool. Rejects only with what the model failed of; an interrupt
 * (the signal) is an end like any other.
 */
export async function loop(
  context: LoopContext,
  config: LoopConfig,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<LoopEnd> {
  let usage = NO_USAGE;
  let continuations = 0;
  for (let turns = 0; ; ) {
    if (signal.aborted) return { reason: 'interrupted', turns, usage };
    if (turns >= (config.maxTurns ?? Infinity)) return { reason: 'max-turns', turns, usage };
    const reply = await takeReply(context, config, emit, signal);
    // Nothing had come yet: that is no reply.
    if (signal.aborted && reply.id === '') return { reason: 'interrupted', turns, usage };
    turns++;
    usage = addUsage(usage, reply.usage);
    if (reply.content.length > 0) context.messages.push({ role: 'assistant', content: reply.content });
    emit({ kind: 'replied', message: reply });
    const calls = reply.content.filter(isToolUse);
    if (calls.length === 0) {
      if (signal.aborted) return { reason: 'interrupted', turns, usage };
      const isCut = reply.stop_reason === 'max_tokens' && continuations++ < MOST_CONTINUATIONS;
      const goOn = isCut ? CONTINUE : await config.beforeEnd?.(signal);
      if (goOn === undefined) return { reason: 'done', turns, usage };
      const message = { role: 'user' as const, content: [{ type: 'text' as const, text: goOn }] };
      context.messages.push(message);
      emit({ kind: 'text-added', content: message.content });
      continue;
    }
    const stop = await answerCalls(calls, context, config, emit, signal);
    if (stop !== undefined) return { reason: 'stopped', turns, usage, why: stop };
  }
}

/** One reply of the model. An interrupt in the middle gives what had come so far. */
async function takeReply(
  context: LoopContext,
  config: LoopConfig,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<CollectedMessage> {
  const { messages } = context;
  const collector = new MessageCollector();
  try {
    const round = await config.round();
    await config.makeRoom?.(messages, round, 'filling', signal);
    try {
      await stream(messages, round, config, collector, emit, signal);
    } catch (thrown) {
      const isTooLong = thrown instanceof ModelFault && thrown.code === 'too-long';
      if (!isTooLong || !(await config.makeRoom?.(messages, round, 'too-long', signal))) throw thrown;
      await stream(messages, round, config, collector, emit, signal);
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
  return collector.message;
}

async function stream(
  messages: readonly ModelMessage[],
  round: Round,
  config: LoopConfig,
  collector: MessageCollector,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { model, modelName, maxTokens, thinking } = config;
  const request: ModelRequest = {
    ...round,
    model: modelName,
    messages,
    maxTokens,
    ...(thinking && { thinking }),
    signal,
  };
  emit({ kind: 'requested' });
  for await (const event of model.stream(request)) {
    const block = collector.add(event);
    if (block) emit({ kind: 'block-finished', block, reply: collector.head });
    emit({ kind: 'streamed', event });
    const ready = config.readerReady?.();
    if (ready !== undefined) await untilAborted(ready, signal);
  }
}

async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const stop = () => aborted.resolve();
  signal.addEventListener('abort', stop);
  if (!signal.aborted) await Promise.race([work, aborted.promise]);
  signal.removeEventListener('abort', stop);
}

/** Gives why the loop is to end, if it is. */
async function answerCalls(
  calls: readonly ToolCall[],
  context: LoopContext,
  config: LoopConfig,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const outcomes = await runCalls(
    calls,
    (call, within) => prepareCall(call, config, within),
    {
      started: (call) => emit({ kind: 'call-started', call }),
      finished: (call, outcome) => emit({ kind: 'call-finished', call, outcome }),
    },
    signal,
  );
  const content = calls.map((call, index) =>
    resultBlock(call, outcomes[index] ?? failedOutcome(INTERRUPTED)),
  );
  const end = signal.aborted ? undefined : await config.batchDone?.(calls, outcomes, signal);
  for (const text of end?.texts ?? []) content.push({ type: 'text', text });
  context.messages.push({ role: 'user', content });
  emit({ kind: 'results-added', content });
  return end?.stop;
}

async function prepareCall(call: ToolCall, config: LoopConfig, signal: AbortSignal): Promise<PreparedCall> {
  const raw = invalidInput(call.input);
  if (raw === undefined) return config.prepare(call, signal);
  const fault = `The arguments of ${call.name} are no JSON object: ${raw}`;
  return { kind: 'answered', outcome: failedOutcome(fault) };
}

function isToolUse(block: ModelBlock): block is Extract<ModelBlock, { type: 'tool_use' }> {
  return block.type === 'tool_use';
}

export const NO_USAGE: Usage = Object.freeze({ input_tokens: 0, output_tokens: 0 });

/** What two replies used together; what is no number is left as the first has it. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { ...a };
  for (const [name, value] of Object.entries(b)) {
    if (typeof value !== 'number') continue;
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    sum[name] = (typeof before === 'number' ? before : 0) + value;
  }
  return sum;
}
