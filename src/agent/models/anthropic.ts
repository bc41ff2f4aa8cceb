import type { Anthropic } from '@anthropic-ai/sdk';
import { anthropicParams } from './anthropic-request.ts';
import { cutFault, faultOf } from './fault.ts';
import type { Model, ModelEvent, ModelLimits, ModelRequest } from './model.ts';
import { DEFAULT_TIMEOUT_MS, type ModelEndpoint } from './unreachable.ts';

/** Where the Messages API is and what opens it: an API key, or a token sent as a bearer. */
export type AnthropicOptions = ({ apiKey: string } | { authToken: string }) & {
  baseUrl?: string;
  headers?: Record<string, string>;
  /** Limit for the time until the first byte of a response. */
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
  let isComplete = false;
  try {
    const stream = await client.messages.create(anthropicParams(request), { signal });
    for await (const event of stream) {
      isComplete = event.type === 'message_stop';
      yield event as unknown as ModelEvent;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw faultOf(thrown, endpoint, Date.now());
  }
  if (isComplete) return;
  // The library ends an aborted stream as if it were finished.
  signal.throwIfAborted();
  throw cutFault(endpoint);
}

async function openClient(
  options: AnthropicOptions,
  { url: baseURL, timeoutMs }: ModelEndpoint,
): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  const credential = 'apiKey' in options ? { apiKey: options.apiKey } : { authToken: options.authToken };
  // Everything the library would otherwise take from the environment is said here.
  return new Anthropic({
    ...credential,
    baseURL,
    webhookKey: null,
    // Retries are `withRetry`'s alone: two layers would multiply.
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: 'off',
    openTelemetry: false,
    ...(options.headers && { defaultHeaders: options.headers }),
  });
}
