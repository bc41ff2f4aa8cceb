import type { OpenAI } from 'openai';
import { cutFault, faultOf } from './fault.ts';
import type { Model, ModelEvent, ModelLimits, ModelRequest } from './model.ts';
import { type MaxTokensField, openAiParams } from './openai-request.ts';
import { ChunkTranslator } from './openai-stream.ts';
import { DEFAULT_TIMEOUT_MS, type ModelEndpoint } from './unreachable.ts';

/** Where an OpenAI-compatible endpoint is; local ones need no key. */
export type OpenAiOptions = {
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  /** Limit for the time until the first byte of a response. */
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
  try {
    const stream = await client.chat.completions.create(openAiParams(request, maxTokens), { signal });
    for await (const chunk of stream) yield* translator.take(chunk);
  } catch (thrown) {
    signal.throwIfAborted();
    throw faultOf(thrown, endpoint, Date.now());
  }
  // The library ends an aborted stream as if it were finished.
  signal.throwIfAborted();
  if (!translator.isFinished) throw cutFault(endpoint);
  yield* translator.end();
}

async function openClient(
  options: OpenAiOptions,
  { url: baseURL, timeoutMs }: ModelEndpoint,
): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  // Everything the library would otherwise take from the environment is said here; it insists on some key.
  return new OpenAI({
    apiKey: options.apiKey ?? 'none',
    baseURL,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    // Retries are `withRetry`'s alone: two layers would multiply.
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: 'off',
    ...(options.headers && { defaultHeaders: options.headers }),
  });
}
