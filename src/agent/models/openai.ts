import type { OpenAI } from 'openai';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import { textOf } from './message-collector.ts';
import {
  type Model,
  type ModelDelta,
  ModelError,
  type ModelEvent,
  type ModelLimits,
  type ModelMessage,
  type ModelRequest,
} from './model.ts';
import { brokenReplyError, DEFAULT_TIMEOUT_MS, type ModelEndpoint, toModelError } from './model-error.ts';
import { sanitizeRequest } from './sanitize-request.ts';

/** An OpenAI-compatible endpoint; local ones need no key. */
type OpenAiOptions = {
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  /** Time limit until the first byte of a response. */
  timeoutMs?: number;
  maxTokensField?: MaxTokensField;
  limits?: Partial<ModelLimits>;
};

const BASE_URL = 'https://api.openai.com/v1';
const LIMITS: ModelLimits = { toolName: 64, contextTokens: 128_000, outputTokens: 16_000 };

/** Models behind chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter; the client library is loaded with the first request. */
export function openAiModel(options: OpenAiOptions = {}): Model {
  const endpoint: ModelEndpoint = {
    url: options.baseUrl ?? BASE_URL,
    variable: 'OPENAI_BASE_URL',
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
  const isOpenAi = new URL(endpoint.url).hostname === 'api.openai.com';
  const maxTokens = options.maxTokensField ?? (isOpenAi ? 'max_completion_tokens' : 'max_tokens');
  let client: Promise<OpenAI> | undefined;
  return {
    name: 'openai',
    limits: { ...LIMITS, ...options.limits },
    async *stream(request) {
      request.signal.throwIfAborted();
      if (request.webSearch) throw new ModelError('bad-request', `${request.model} cannot search the web`);
      client ??= openClient(options, endpoint);
      yield* events(await client, request, maxTokens, endpoint);
    },
  };
}

async function* events(
  client: OpenAI,
  request: ModelRequest,
  maxTokens: MaxTokensField,
  endpoint: ModelEndpoint,
): AsyncGenerator<ModelEvent> {
  const { signal } = request;
  const translator = new ChunkTranslator(request.model);
  let hasBegun = false;
  try {
    const stream = await client.chat.completions.create(openAiParams(request, maxTokens), { signal });
    hasBegun = true;
    for await (const chunk of stream) yield* translator.translate(chunk);
  } catch (thrown) {
    signal.throwIfAborted();
    throw (hasBegun ? brokenReplyError : toModelError)(thrown, endpoint, Date.now());
  }
  // The library ends an aborted stream as if it were finished.
  signal.throwIfAborted();
  if (!translator.isFinished) throw brokenReplyError(new Error('no finish reason'), endpoint, Date.now());
  yield* translator.end();
}

async function openClient(
  options: OpenAiOptions,
  { url: baseURL, timeoutMs }: ModelEndpoint,
): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  // Set explicitly, so that the library reads nothing from the environment; it requires some key.
  return new OpenAI({
    apiKey: options.apiKey ?? 'none',
    baseURL,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    // `withRetry` does the retries: two layers would multiply.
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: 'off',
    ...(options.headers && { defaultHeaders: options.headers }),
  });
}

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.ChatCompletionMessageParam;
type ToolResult = Extract<UserBlock, { type: 'tool_result' }>;
type ToolUse = Extract<ModelBlock, { type: 'tool_use' }>;

/**
 * The parameter for the length of the reply: `max_completion_tokens` for OpenAI, `max_tokens` for most other endpoints.
 */
type MaxTokensField = 'max_tokens' | 'max_completion_tokens';

/** The body of a chat completion request. Thinking budgets and cache breakpoints have no counterpart there. */
export function openAiParams(given: ModelRequest, maxTokensField: MaxTokensField): Params {
  const request = sanitizeRequest(given);
  const system: Message[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  return {
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
    [maxTokensField]: request.maxTokens,
    // The API has no level above `xhigh`.
    ...(request.effort && { reasoning_effort: request.effort === 'max' ? 'xhigh' : request.effort }),
    messages: [...system, ...request.messages.flatMap(openAiMessages)],
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: 'function' as const,
        function: { name, description, parameters: { ...input_schema } },
      })),
    }),
  };
}

function openAiMessages(message: ModelMessage): Message[] {
  return message.role === 'assistant' ? assistantMessage(message.content) : userMessages(message.content);
}

function assistantMessage(blocks: readonly ModelBlock[]): Message[] {
  const content = textOf(blocks);
  const calls = blocks.filter((block): block is ToolUse => block.type === 'tool_use');
  if (content === '' && calls.length === 0) return [];
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }));
  return [{ role: 'assistant', content: content || null, ...(calls.length > 0 && { tool_calls }) }];
}

/** Results come first: the API requires an answer to every call before other content. */
function userMessages(blocks: readonly UserBlock[]): Message[] {
  const results = blocks.filter((block): block is ToolResult => block.type === 'tool_result');
  const others = blocks.filter((block) => block.type !== 'tool_result').flatMap(openAiPart);
  const parts = [...results.flatMap(attachments), ...others];
  return [...results.map(toolMessage), ...(parts.length > 0 ? [userMessage(parts)] : [])];
}

function userMessage(parts: readonly OpenAiPart[]): Message {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  // Some endpoints accept only plain strings, so a message without attachments is sent as one.
  return { role: 'user', content: texts.length === parts.length ? texts.join('\n\n') : [...parts] };
}

function toolMessage({ tool_use_id, content, is_error }: ToolResult): Message {
  const text = typeof content === 'string' ? content : (content ?? []).map(textOfBlock).join('\n');
  const shown = text === '' ? '(no output)' : text;
  return { role: 'tool', tool_call_id: tool_use_id, content: is_error ? `Error: ${shown}` : shown };
}

/** Tool messages hold text only, so images and files of a result follow in a user message. */
function attachments({ tool_use_id, content }: ToolResult): OpenAiPart[] {
  if (content === undefined || typeof content === 'string') return [];
  const shown = content.flatMap(openAiPart).filter((part) => part.type !== 'text');
  if (shown.length === 0) return [];
  return [{ type: 'text', text: `Attached to the result of tool call ${tool_use_id}:` }, ...shown];
}

type OpenAiPart = OpenAI.ChatCompletionContentPart;

/** The parts for a block; images and files are sent as data URLs. */
function openAiPart(block: UserBlock): OpenAiPart[] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }];
  if (block.type === 'image') {
    const url = urlOf(block.source);
    return [url === undefined ? missing(block) : { type: 'image_url', image_url: { url } }];
  }
  if (block.type === 'document') return [documentPart(block)];
  return [];
}

/** The text of a block of a tool result; other content is named here and sent as an attachment. */
function textOfBlock(block: UserBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_result') return '';
  const text = block.type === 'document' && inlineText(block.source);
  return typeof text === 'string' ? text : `[${block.type}]`;
}

function documentPart(block: Extract<UserBlock, { type: 'document' }>): OpenAiPart {
  const text = inlineText(block.source);
  if (text !== undefined) return { type: 'text', text };
  const file_data = block.source.type === 'base64' ? urlOf(block.source) : undefined;
  if (file_data === undefined) return missing(block);
  return { type: 'file', file: { filename: block.title ?? 'document.pdf', file_data } };
}

function inlineText(source: Record<string, unknown>): string | undefined {
  return source.type === 'text' && typeof source.data === 'string' ? source.data : undefined;
}

function urlOf(source: Record<string, unknown>): string | undefined {
  if (source.type === 'base64') return `data:${String(source.media_type)};base64,${String(source.data)}`;
  return source.type === 'url' && typeof source.url === 'string' ? source.url : undefined;
}

function missing(block: UserBlock): OpenAiPart {
  return { type: 'text', text: `[${block.type} omitted: this model does not support it]` };
}

type Chunk = OpenAI.ChatCompletionChunk;
type CallDelta = OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall;
/** Endpoints stream thinking under one of these names. */
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

/** Converts the chunks of one chat completion to events of the Messages API. */
class ChunkTranslator {
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

  /** Whether a finish reason has arrived; a stream that ends without one was cut off. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  translate(chunk: Chunk): ModelEvent[] {
    const events: ModelEvent[] = this.#id === undefined ? [this.#start(chunk)] : [];
    if (chunk.usage) this.#usage = toUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (!choice) return events;
    const delta: Delta = choice.delta ?? {};
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === 'string' && thought !== '') events.push(...this.#delta('thinking', thought));
    const text = `${delta.content ?? ''}${delta.refusal ?? ''}`;
    if (text !== '') events.push(...this.#delta('text', text));
    for (const call of delta.tool_calls ?? []) events.push(...this.#call(call));
    if (choice.finish_reason) this.#finish = choice.finish_reason;
    return events;
  }

  /** The events that end the message, once the stream is over. */
  end(): ModelEvent[] {
    const reason = STOP_REASONS[this.#finish ?? ''] ?? 'end_turn';
    // Some endpoints finish with "stop" after a tool call.
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

  #delta(kind: 'text' | 'thinking', piece: string): ModelEvent[] {
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

  /** Calls stay open to the end, since endpoints may interleave several. */
  #call({ index, id, function: called }: CallDelta): ModelEvent[] {
    const events = this.#close();
    // Some endpoints give every call the index 0, some give none; a new id is a new call.
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

function toUsage(usage: NonNullable<Chunk['usage']>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    input_tokens: Math.max(0, (usage.prompt_tokens ?? 0) - cached),
    output_tokens: usage.completion_tokens ?? 0,
    cache_read_input_tokens: cached,
  };
}
