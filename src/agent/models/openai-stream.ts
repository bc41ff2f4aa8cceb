import type { OpenAI } from 'openai';
import type { Usage } from '../../protocol/agent-message.ts';
import type { ModelDelta, ModelEvent } from './model.ts';

type Chunk = OpenAI.ChatCompletionChunk;
type CallDelta = OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall;
/** Endpoints that stream thoughts do it under one of these names. */
type Delta = Partial<OpenAI.ChatCompletionChunk.Choice.Delta> & {
  reasoning_content?: unknown;
  reasoning?: unknown;
};
type Call = { block: number; id: string | undefined };

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** Turns the chunks of one chat completion into the neutral events; plain data in, plain data out. */
export class ChunkTranslator {
  readonly #model: string;
  #id: string | undefined;
  #blocks = 0;
  #open: { kind: 'text' | 'thinking'; block: number } | undefined;
  readonly #calls = new Map<number, Call>();
  readonly #openCalls: number[] = [];
  #finish: string | undefined;
  #usage: Usage = { input_tokens: 0, output_tokens: 0 };

  constructor(model: string) {
    this.#model = model;
  }

  /** Whether the endpoint said why it stopped; a stream that ends before was cut. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  take(chunk: Chunk): ModelEvent[] {
    const events: ModelEvent[] = this.#id === undefined ? [this.#start(chunk)] : [];
    if (chunk.usage) this.#usage = neutralUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) return events;
    const delta: Delta = choice.delta ?? {};
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === 'string' && thought !== '') events.push(...this.#say('thinking', thought));
    const said = `${delta.content ?? ''}${delta.refusal ?? ''}`;
    if (said !== '') events.push(...this.#say('text', said));
    for (const call of delta.tool_calls ?? []) events.push(...this.#call(call));
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    return events;
  }

  /** The events that end the message, once the stream is over. */
  end(): ModelEvent[] {
    const reason = STOP_REASONS[this.#finish ?? ''] ?? 'end_turn';
    // Some endpoints say "stop" after a tool call.
    const stop_reason = reason === 'end_turn' && this.#openCalls.length > 0 ? 'tool_use' : reason;
    return [
      ...this.#close(),
      ...this.#openCalls.map((index): ModelEvent => ({ type: 'content_block_stop', index })),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: this.#usage },
      { type: 'message_stop' },
    ];
  }

  #start(chunk: Chunk): ModelEvent {
    this.#id = chunk.id || 'completion';
    const message = {
      id: this.#id,
      type: 'message',
      role: 'assistant',
      model: chunk.model || this.#model,
    } as const;
    const usage = { input_tokens: 0, output_tokens: 0 };
    return {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage },
    };
  }

  #say(kind: 'text' | 'thinking', piece: string): ModelEvent[] {
    const events: ModelEvent[] = [];
    if (this.#open?.kind !== kind) {
      events.push(...this.#close());
      this.#open = { kind, block: this.#blocks++ };
      const content_block =
        kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' };
      events.push({ type: 'content_block_start', index: this.#open.block, content_block });
    }
    const delta: ModelDelta =
      kind === 'text' ? { type: 'text_delta', text: piece } : { type: 'thinking_delta', thinking: piece };
    return [
      ...events,
      { type: 'content_block_delta', index: (this.#open as { block: number }).block, delta },
    ];
  }

  /** Calls stay open to the end, since endpoints may stream several side by side. */
  #call({ index, id, function: called }: CallDelta): ModelEvent[] {
    const events = this.#close();
    // Some endpoints number every call 0, some number none; a new id is a new call.
    const place = index ?? 0;
    let call = this.#calls.get(place);
    if (!call || (id && call.id !== undefined && id !== call.id)) {
      call = { block: this.#blocks++, id: id || undefined };
      this.#calls.set(place, call);
      this.#openCalls.push(call.block);
      const name = called?.name ?? '';
      const toolId = id || `call_${this.#id}_${call.block}`.replace(/[^\w-]/g, '_');
      const content_block = { type: 'tool_use', id: toolId, name, input: {} } as const;
      events.push({ type: 'content_block_start', index: call.block, content_block });
    }
    const json = called?.arguments;
    if (!json) return events;
    const delta: ModelDelta = { type: 'input_json_delta', partial_json: json };
    return [...events, { type: 'content_block_delta', index: call.block, delta }];
  }

  #close(): ModelEvent[] {
    if (!this.#open) return [];
    const index = this.#open.block;
    this.#open = undefined;
    return [{ type: 'content_block_stop', index }];
  }
}

function neutralUsage(usage: NonNullable<Chunk['usage']>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    input_tokens: Math.max(0, (usage.prompt_tokens ?? 0) - cached),
    output_tokens: usage.completion_tokens ?? 0,
    cache_read_input_tokens: cached,
  };
}
