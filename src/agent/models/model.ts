import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';

/** A tool as a model is told of it; `input_schema` is JSON Schema of an object. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
};

/** One turn of the conversation; the blocks of the Messages API are the form every adapter converts from. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly content: readonly ModelBlock[] };

/** Everything a model needs for one reply; nothing is remembered between requests. */
export type ModelRequest = {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ModelTool[];
  /** Index of the last built-in tool: what stands up to it rarely changes, so a prompt cache may end there. */
  readonly cacheAfterTool?: number;
  readonly messages: readonly ModelMessage[];
  readonly maxTokens: number;
  readonly thinking?: { readonly budgetTokens: number } | 'adaptive';
  readonly signal: AbortSignal;
};

/** A piece of the block that is being streamed. */
export type ModelDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'citations_delta'; citation: unknown };

/** One event of a streamed reply, in the Messages API's form; blocks may be open side by side, told apart by `index`. */
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
  | { type: 'message_stop' };

/** What a model can take: the longest tool name in characters, the window and the longest reply in tokens. */
export type ModelLimits = {
  readonly toolName: number;
  readonly contextTokens: number;
  readonly outputTokens: number;
};

/** Something that answers conversations; `stream` throws a `ModelError`, or the signal's reason once it is aborted. */
export interface Model {
  readonly name: string;
  readonly limits: ModelLimits;
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/** Why a model gave no reply, in words every adapter shares. */
export type ModelErrorCode =
  | 'overloaded'
  | 'rate-limited'
  | 'unauthorized'
  | 'bad-request'
  | 'too-long'
  | 'unreachable'
  | 'failed';

type FaultDetails = {
  status?: number | undefined;
  retryAfterMs?: number | undefined;
  endpoint?: string | undefined;
  reason?: string | undefined;
  retryLimit?: number | undefined;
  cause?: unknown;
};

/** A model that gave no reply, or only the start of one. */
export class ModelError extends Error {
  override readonly name = 'ModelFault';
  readonly code: ModelErrorCode;
  /** The HTTP status, if the endpoint gave one. */
  readonly status: number | undefined;
  /** How long the endpoint asked to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** The URL of the request, without credentials and query. */
  readonly endpoint: string | undefined;
  /** Why there was no HTTP response: a system error code such as ECONNREFUSED, or a few words. */
  readonly reason: string | undefined;
  /** How many retries can help at most; 0 if the cause is permanent. Undefined: as many as the policy allows. */
  readonly retryLimit: number | undefined;

  constructor(code: ModelErrorCode, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.endpoint = details.endpoint;
    this.reason = details.reason;
    this.retryLimit = details.retryLimit;
  }
}
