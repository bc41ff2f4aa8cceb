import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import { type CollectedMessage, invalidInput, MessageCollector } from '../model/collect.ts';
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../model/model.ts';
import { INTERRUPTED, runCalls } from './run-calls.ts';
import {
  failedOutcome,
  type PreparedCall,
  resultBlock,
  type ToolCall,
  type ToolOutcome,
} from './tool-call.ts';

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
  round(): Round | Promise<Round>;
  /** Decides about one call: permissions, hooks, which tool. */
  prepare(call: ToolCall, signal: AbortSignal): Promise<PreparedCall>;
};

/** Every observable step, as a past fact. */
export type LoopEvent =
  | { kind: 'streamed'; event: ModelEvent }
  | { kind: 'replied'; message: CollectedMessage }
  | { kind: 'call-started'; call: ToolCall }
  | { kind: 'call-finished'; call: ToolCall; outcome: ToolOutcome }
  | { kind: 'results-added'; content: readonly UserBlock[] };

export type LoopEnd = {
  readonly reason: 'done' | 'max-turns' | 'interrupted';
  readonly turns: number;
  readonly usage: Usage;
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
  let usage: Usage = { input_tokens: 0, output_tokens: 0 };
  let continuations = 0;
  for (let turns = 0; ; ) {
    if (signal.aborted) return { reason: 'interrupted', turns, usage };
    if (turns === config.maxTurns) return { reason: 'max-turns', turns, usage };
    const reply = await takeReply(context, config, emit, signal);
    turns++;
    usage = addUsage(usage, reply.usage);
    if (reply.content.length > 0) context.messages.push({ role: 'assistant', content: reply.content });
    emit({ kind: 'replied', message: reply });
    const calls = reply.content.filter(isToolUse);
    if (calls.length === 0) {
      if (signal.aborted) return { reason: 'interrupted', turns, usage };
      if (reply.stop_reason !== 'max_tokens' || continuations++ >= MOST_CONTINUATIONS) {
        return { reason: 'done', turns, usage };
      }
      context.messages.push({ role: 'user', content: [{ type: 'text', text: CONTINUE }] });
      continue;
    }
    await answerCalls(calls, context, config, emit, signal);
  }
}

/** One reply of the model. An interrupt in the middle gives what had come so far. */
async function takeReply(
  context: LoopContext,
  config: LoopConfig,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<CollectedMessage> {
  const collector = new MessageCollector();
  try {
    const request: ModelRequest = {
      ...(await config.round()),
      model: config.modelName,
      messages: context.messages,
      maxTokens: config.maxTokens,
      ...(config.thinking && { thinking: config.thinking }),
      signal,
    };
    for await (const event of config.model.stream(request)) {
      collector.add(event);
      emit({ kind: 'streamed', event });
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
  return collector.message;
}

async function answerCalls(
  calls: readonly ToolCall[],
  context: LoopContext,
  config: LoopConfig,
  emit: (event: LoopEvent) => void,
  signal: AbortSignal,
): Promise<void> {
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
  context.messages.push({ role: 'user', content });
  emit({ kind: 'results-added', content });
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

function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { ...a };
  for (const [name, value] of Object.entries(b)) {
    if (typeof value === 'number') sum[name] = ((sum[name] as number | undefined) ?? 0) + value;
  }
  return sum;
}
