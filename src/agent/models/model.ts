import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';

/** A tool definition for a model; `input_schema` is a JSON Schema of an object. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
};

/** One message of the conversation. Adapters convert from the blocks of the Messages API. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly content: readonly ModelBlock[] };

/** A request for one reply. Models keep no state between requests. */
export type ModelRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ModelTool[];
  /** The index of the last built-in tool: the tools up to it rarely change, so a prompt cache may end there. */
  readonly cacheAfterTool?: number;
  readonly messages: readonly ModelMessage[];
  readonly maxTokens: number;
  readonly thinking?: { readonly budgetTokens: number } | 'adaptive' | 'disabled';
  /** In which form the model returns its thoughts; undefined leaves that to its API. */
  readonly thinkingDisplay?: 'summarized' | 'omitted';
  /** How thorough the model is; undefined leaves that to the model's API. */
  readonly effort?: EffortLevel;
  /** Makes the API search the web before it replies: the reply contains `web_search_tool_result` blocks. See `canSearch`. */
  readonly webSearch?: WebSearchFilter;
  readonly signal: AbortSignal;
  /** Receives the model that an attempt is sent to, which is another one if the request falls back. */
  readonly onAttempt?: (model: AttemptedModel) => void;
  /** Receives the id that the endpoint gave the request, before the reply. */
  readonly onRequestId?: (id: string) => void;
};

/** The domains to which a web search is limited, or those that it leaves out. */
export type WebSearchFilter = { readonly allowed: readonly string[]; readonly blocked: readonly string[] };

/** A model by the name that it was requested with and by its name at its provider, where aliases are resolved. */
export type AttemptedModel = { readonly given: string; readonly name: string };

export type ModelDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'citations_delta'; citation: unknown };

/** One event of a streamed reply, in the form of the Messages API. Several blocks may be open; `index` identifies each. */
export type ModelEvent =
  | {
      type: 'message_start';
      message: {
        id: string;
        type: 'message';
        role: 'assistant';
        model: string;
        content: ModelBlock[];
        stop_reason: string | null;
        stop_sequence: string | null;
        usage: Usage;
      };
    }
  | { type: 'content_block_start'; index: number; content_block: ModelBlock }
  | { type: 'content_block_delta'; index: number; delta: ModelDelta }
  | { type: 'content_block_stop'; index: number }
  | {
      type: 'message_delta';
      delta: { stop_reason: string | null; stop_sequence: string | null };
      usage: Partial<Usage>;
    }
  | { type: 'message_stop' }
  /** The reply broke off. Its open blocks are discarded, and another reply may begin. Models do not send it, `withRetry` does. */
  | { type: 'reply_broken' };

/** The maximum length of a tool name in characters, and the sizes of the window and of a reply in tokens. */
export type ModelLimits = {
  readonly toolName: number;
  readonly contextTokens: number;
  readonly outputTokens: number;
};

/** Prices in US dollars per million tokens; `cacheWrite` is for a lifetime of five minutes. */
type Rates = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
};

/**
 * The list prices and limits of a model. `long` applies to requests with a longer prompt; a model without `effort`
 * accepts none. `thinking`: the model decides how much it thinks, always or unless it is disabled, or it gets a budget; a
 * model without it does not think.
 */
export type ModelFigures = Rates & {
  readonly long?: Rates & { readonly above: number };
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly effort?: EffortLevel;
  readonly thinking?: 'always' | 'adaptive' | 'budget';
};

/** A language model; `stream` throws a `ModelError`, or the signal's reason once it is aborted. */
export interface Model {
  readonly name: string;
  readonly limits: ModelLimits;
  /** Whether requests to a model may have `webSearch`. */
  canSearch?(model: string): boolean;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

export type ModelErrorCode =
  | 'overloaded'
  | 'rate-limited'
  | 'unauthorized'
  | 'bad-request'
  /** The endpoint cannot process an image of the request. */
  | 'bad-image'
  | 'too-long'
  | 'unreachable'
  /** A reply began but did not arrive completely. */
  | 'broken-reply'
  /** The model was asked to continue too often, because its replies reached a limit. */
  | 'reply-limit'
  /** A safety classifier stopped the reply. */
  | 'refused'
  | 'failed';

type ErrorDetails = {
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  endpoint?: string | undefined;
  detail?: string | undefined;
  type?: string | undefined;
  reason?: string | undefined;
  retryLimit?: number | undefined;
  cause?: unknown;
};

/** A request that got no reply, or only the start of one. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  /** The HTTP status, if the endpoint gave one. */
  readonly status: number | undefined;
  /** The Retry-After of the endpoint. */
  readonly retryAfterMs: number | undefined;
  /** The URL of the request, without credentials and query. */
  readonly endpoint: string | undefined;
  /** The message of the endpoint, without what this package adds. */
  readonly detail: string | undefined;
  /** The error type in the response, such as `rate_limit_error`. */
  readonly type: string | undefined;
  /** Why there was no HTTP response: a system error code such as ECONNREFUSED, or a short text. */
  readonly reason: string | undefined;
  /** The maximum number of useful retries; 0 if the cause is permanent. Undefined: as many as the policy allows. */
  readonly retryLimit: number | undefined;

  constructor(code: ModelErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.endpoint = details.endpoint;
    this.detail = details.detail;
    this.type = details.type;
    this.reason = details.reason;
    this.retryLimit = details.retryLimit;
  }
}
