import type { Anthropic } from '@anthropic-ai/sdk';
import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import type {
  Model,
  ModelEvent,
  ModelLimits,
  ModelMessage,
  ModelRequest,
  ModelTool,
  WebSearchFilter,
} from './model.ts';
import { brokenReplyError, DEFAULT_TIMEOUT_MS, type ModelEndpoint, toModelError } from './model-error.ts';
import { joinTurns, sanitizeRequest } from './sanitize-request.ts';

/** The endpoint of the Messages API and its credential: an API key or a bearer token. */
export type AnthropicOptions = ({ apiKey: string } | { authToken: string }) & {
  baseUrl?: string;
  headers?: Record<string, string>;
  /** Time limit until the first byte of a response. */
  timeoutMs?: number;
  limits?: Partial<ModelLimits>;
};

const BASE_URL = 'https://api.anthropic.com';
const LIMITS: ModelLimits = { toolName: 128, contextTokens: 200_000, outputTokens: 32_000 };

/** Models behind Anthropic's Messages API; the client library is loaded with the first request. */
export function anthropicModel(options: AnthropicOptions): Model {
  const endpoint: ModelEndpoint = {
    url: options.baseUrl ?? BASE_URL,
    variable: 'ANTHROPIC_BASE_URL',
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
  let client: Promise<Anthropic> | undefined;
  return {
    name: 'anthropic',
    limits: { ...LIMITS, ...options.limits },
    canSearch: () => true,
    async *stream(request) {
      request.signal.throwIfAborted();
      client ??= openClient(options, endpoint);
      yield* events(await client, request, endpoint);
    },
  };
}

async function* events(
  client: Anthropic,
  request: ModelRequest,
  endpoint: ModelEndpoint,
): AsyncGenerator<ModelEvent> {
  const { signal } = request;
  let hasBegun = false;
  /** A message whose stop reason has arrived is complete. */
  let hasStopped = false;
  let isComplete = false;
  try {
    const sent = client.messages.create(anthropicParams(request), { signal });
    const { data: stream, request_id: requestId } = await sent.withResponse();
    hasBegun = true;
    if (requestId) request.onRequestId?.(requestId);
    for await (const event of stream) {
      hasStopped ||= event.type === 'message_delta' && event.delta.stop_reason !== null;
      isComplete = event.type === 'message_stop';
      yield event as unknown as ModelEvent;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (!hasStopped) throw (hasBegun ? brokenReplyError : toModelError)(thrown, endpoint, Date.now());
  }
  if (isComplete) return;
  // The library ends an aborted stream as if it were finished.
  signal.throwIfAborted();
  if (!hasStopped) throw brokenReplyError(new Error('no end of the message'), endpoint, Date.now());
  yield { type: 'message_stop' };
}

async function openClient(
  options: AnthropicOptions,
  { url: baseURL, timeoutMs }: ModelEndpoint,
): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  const credential = 'apiKey' in options ? { apiKey: options.apiKey } : { authToken: options.authToken };
  // Set explicitly, so that the library reads nothing from the environment.
  return new Anthropic({
    ...credential,
    baseURL,
    webhookKey: null,
    // `withRetry` does the retries: two layers would multiply.
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: 'off',
    openTelemetry: false,
    ...(options.headers && { defaultHeaders: options.headers }),
  });
}

type Params = Anthropic.MessageCreateParamsStreaming;

const CACHE = { type: 'ephemeral' } as const;

/** The smallest thinking budget that the API accepts. */
const MIN_THINKING_BUDGET = 1024;

/** Maximum number of searches of one request. */
const MAX_SEARCHES = 8;

/** The body of a Messages request; cache breakpoints go after the system prompt, the last built-in tool and the last user message. */
export function anthropicParams(given: ModelRequest): Params {
  const request = sanitizeRequest(given);
  const thinking = thinkingParam(request);
  const messages = withBreakpoint(
    joinTurns(request.messages)
      .map(plainMessage)
      .filter(({ content }) => content.length > 0),
  );
  return {
    model: request.model,
    max_tokens: request.maxTokens,
    stream: true,
    // Our blocks have the form of the API; only the members we use are typed.
    messages: messages as unknown as Params['messages'],
    ...(request.system !== '' && { system: [{ type: 'text', text: request.system, cache_control: CACHE }] }),
    ...(request.tools.length > 0 && { tools: request.tools.map(toolParam(request.cacheAfterTool)) }),
    ...(thinking && { thinking }),
    ...(request.webSearch && searchParams(request.webSearch)),
    ...(request.effort && { output_config: { effort: request.effort } }),
  };
}

/** The API's search as the only tool, which the model must use; the API does not allow thinking with a forced tool. */
function searchParams({
  allowed,
  blocked,
}: WebSearchFilter): Pick<Params, 'tools' | 'tool_choice' | 'thinking'> {
  const filter = {
    ...(allowed.length > 0 && { allowed_domains: [...allowed] }),
    ...(blocked.length > 0 && { blocked_domains: [...blocked] }),
  };
  return {
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: MAX_SEARCHES, ...filter }],
    tool_choice: { type: 'tool', name: 'web_search' },
    thinking: { type: 'disabled' },
  };
}

function toolParam(cacheAfter: number | undefined) {
  return ({ name, description, input_schema }: ModelTool, index: number): Anthropic.Tool => ({
    name,
    description,
    input_schema: { ...input_schema, type: 'object' },
    ...(index === cacheAfter && { cache_control: CACHE }),
  });
}

function thinkingParam({ thinking, thinkingDisplay, maxTokens }: ModelRequest): Params['thinking'] {
  if (thinking === undefined) return undefined;
  if (thinking === 'disabled') return { type: 'disabled' };
  const display = thinkingDisplay && { display: thinkingDisplay };
  if (thinking === 'adaptive') return { type: 'adaptive', ...display };
  // The budget counts toward the reply's tokens and must leave some for the reply itself.
  const budget = Math.min(Math.max(thinking.budgetTokens, MIN_THINKING_BUDGET), maxTokens - 1);
  return budget < MIN_THINKING_BUDGET ? undefined : { type: 'enabled', budget_tokens: budget, ...display };
}

/** Drops what the API would reject: unsigned thinking blocks of other models, and empty texts. */
function plainMessage(message: ModelMessage): ModelMessage {
  if (message.role === 'user')
    return { ...message, content: message.content.filter(isNotEmpty).map(withoutCacheControl) };
  return {
    ...message,
    content: message.content.filter((block) => isNotEmpty(block) && !isUnsignedThinking(block)),
  };
}

function isNotEmpty(block: ModelBlock | UserBlock): boolean {
  return block.type !== 'text' || block.text !== '';
}

function isUnsignedThinking(block: ModelBlock): boolean {
  return block.type === 'thinking' && !block.signature;
}

/** The API accepts at most four cache breakpoints, so those of the caller are removed. */
function withoutCacheControl(block: UserBlock): UserBlock {
  if (!('cache_control' in block)) return block;
  const { cache_control: _, ...rest } = block;
  return rest as UserBlock;
}

function withBreakpoint(messages: readonly ModelMessage[]): ModelMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => {
    if (index !== last || message.role !== 'user') return message;
    const end = message.content.length - 1;
    const content = message.content.map((block, at) =>
      at === end ? { ...block, cache_control: CACHE } : block,
    );
    return { ...message, content };
  });
}
