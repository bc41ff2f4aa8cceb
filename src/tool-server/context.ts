import { CHANNEL, type LogLevel } from '../protocol/mcp.ts';
import type { ArgsOf, ToolSchema } from './schema/standard-schema.ts';
import { type ChannelMeta, channelParams, noChannelError } from './serving/channel.ts';
import {
  type ClientPort,
  type ClientRequest,
  type ClientRequestOptions,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitRequestParams,
  type ElicitResult,
  elicit,
  type InputRound,
  listRoots,
  type Root,
  sample,
} from './serving/client-requests.ts';

/** Application state that handlers read, for example a repository, a cache or the current user. */
export type Assigns = { readonly [name: string]: unknown };

/** The verified caller of a tool server that is protected by a token check. */
export type CallerAuth = {
  readonly issuer: string;
  /** The `sub` claim: the user, or the client itself. */
  readonly subject: string | undefined;
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  /** All claims of the access token. */
  readonly claims: Readonly<Record<string, unknown>>;
};

/** Identifies a caller, whatever scopes its token has. */
export function callerKey(auth: CallerAuth | undefined): string | undefined {
  return auth && JSON.stringify([auth.issuer, auth.subject, auth.clientId]);
}

/** The second argument of a handler: information about the call. */
export interface ToolContext<State extends object = Assigns> {
  /** The state of this attachment: `attach(server, { assigns })`, or `assigns` of the query. */
  readonly assigns: State;
  /** Aborts when the agent cancels the call, the time limit passes or the query closes. */
  readonly signal: AbortSignal;
  /** The key of this server in `mcpServers`. */
  readonly server: string;
  /** The id of the tool use, if the agent sends it. */
  readonly toolUseId: string | undefined;
  /** The JSON-RPC id of the call; absent for `server.call()`. */
  readonly requestId: string | number | undefined;
  /** `_meta` of the request. */
  readonly _meta: Readonly<Record<string, unknown>>;
  /** The verified caller; undefined unless the server runs with `listen({ auth })`. */
  readonly auth?: CallerAuth | undefined;
  /** Reports progress to the agent. Has no effect if the agent did not request progress. */
  progress(done: number, options?: { total?: number; message?: string }): void;
  /** Sends a log message to the agent if the server has `logging: true`, and to the option `onLog` of `server.call()`. */
  log(level: LogLevel, data: unknown): void;
  /** The capabilities that the client has declared; undefined if they are unknown. */
  readonly clientCapabilities: Readonly<Record<string, unknown>> | undefined;
  /** Asks the user for input. Rejects with `missing-capability` if the client does not support it. */
  elicit<Schema extends ToolSchema>(
    params: ElicitRequestParams<Schema>,
    options?: ClientRequestOptions,
  ): Promise<ElicitResult<ArgsOf<Schema>>>;
  /** Requests a completion of the client's model. Rejects with `missing-capability` if the client does not support it. */
  sample(params: CreateMessageRequestParams, options?: ClientRequestOptions): Promise<CreateMessageResult>;
  /** Requests the directories and files that the client works on. */
  listRoots(options?: ClientRequestOptions): Promise<Root[]>;
  /**
   * Pushes a message into the conversation, if the server has the option `channel`. Resolves when the next one can be sent.
   */
  channel(content: string, meta?: ChannelMeta): Promise<void>;
  /** Sends an MCP notification to the agent. Resolves when the next one can be sent. */
  sendNotification(notification: { method: string; params?: Record<string, unknown> }): Promise<void>;
}

/** The callbacks of a call context, implemented by the session or the direct call that runs it. */
export type CallPort = {
  readonly server: string;
  readonly assigns: object;
  readonly auth?: CallerAuth | undefined;
  onProgress?(
    progress: { progress: number; total?: number; message?: string },
    meta: Readonly<Record<string, unknown>>,
  ): void;
  onLog?(level: LogLevel, data: unknown): void;
  /** Whether the server has the option `channel`. */
  readonly hasChannel?: boolean;
  readonly clientCapabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Sends a request to the client of the call; absent if there is no client. */
  onRequest?(request: ClientRequest, ctx: CallContext): Promise<Record<string, unknown>>;
  /** Returns a promise that settles when there is room for more; undefined if there is room now. */
  onNotification?(method: string, params?: Record<string, unknown>): Promise<void> | undefined;
};

/** The context of one call. The abort signal is created on first access, since most handlers do not use it. */
export class CallContext implements ToolContext {
  readonly assigns: Assigns;
  readonly server: string;
  readonly toolUseId: string | undefined;
  readonly requestId: string | number | undefined;
  readonly _meta: Readonly<Record<string, unknown>>;
  readonly auth: CallerAuth | undefined;
  /** Starts the round of a call of MCP 2026-07-28; undefined for earlier revisions. */
  startRound: (() => InputRound) | undefined;
  /** What the handler has thrown. */
  failure: unknown;
  readonly #port: CallPort;
  #round: InputRound | undefined;
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;
  #isOver = false;

  constructor(port: CallPort, meta: Record<string, unknown>, requestId?: string | number) {
    this.#port = port;
    // Only the handler knows its type.
    this.assigns = port.assigns as Assigns;
    this.server = port.server;
    this._meta = meta;
    this.requestId = requestId;
    this.auth = port.auth;
    const toolUseId = meta['claudecode/toolUseId'];
    this.toolUseId = typeof toolUseId === 'string' ? toolUseId : undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** A getter, so that a handler may take it out of the context: `(args, { progress }) => …`. */
  get progress(): ToolContext['progress'] {
    return (done, options = {}) => {
      if (!this.#aborted && !this.#isOver)
        this.#port.onProgress?.({ progress: done, ...options }, this._meta);
    };
  }

  get log(): ToolContext['log'] {
    return (level, data) => this.#port.onLog?.(level, data);
  }

  get sendNotification(): ToolContext['sendNotification'] {
    return async ({ method, params }) => this.#port.onNotification?.(method, params);
  }

  get channel(): ToolContext['channel'] {
    return async (content, meta = {}) => {
      if (!this.#port.hasChannel) throw noChannelError(this.server);
      await this.#port.onNotification?.(CHANNEL.message, channelParams(this.server, content, meta));
    };
  }

  get clientCapabilities(): ToolContext['clientCapabilities'] {
    return this.#port.onRequest ? this.#port.clientCapabilities : {};
  }

  get elicit(): ToolContext['elicit'] {
    return (params, options) => handled(elicit(this.#client, params, options)) as Promise<never>;
  }

  get sample(): ToolContext['sample'] {
    return (params, options) => handled(sample(this.#client, params, options));
  }

  get listRoots(): ToolContext['listRoots'] {
    return (options) => handled(listRoots(this.#client, options));
  }

  /** Throws if the answers of the client are invalid. */
  get round(): InputRound | undefined {
    this.#round ??= this.startRound?.();
    return this.#round;
  }

  get #client(): ClientPort {
    const request = async (it: ClientRequest) =>
      this.round?.request(it) ?? this.#port.onRequest?.(it, this) ?? {};
    return { capabilities: this.clientCapabilities, request };
  }

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }

  get isFinished(): boolean {
    return this.#isOver;
  }

  /** Marks the call as answered; later progress is dropped. */
  finish(): void {
    this.#isOver = true;
  }
}

/** A request that the handler does not await must not end the process when it fails. */
function handled<T>(request: Promise<T>): Promise<T> {
  request.catch(() => {});
  return request;
}

export type CallOutcome = 'ok' | 'error' | 'cancelled';

/** Observes tool calls for tracing: names and outcomes, no arguments. */
export type CallObserver = {
  start(call: { server: string; tool: string; ctx: CallContext }): ObservedCall;
};

export type ObservedCall = {
  /** Runs the handler inside the call's own span. */
  run<T>(work: () => T): T;
  end(outcome: CallOutcome): void;
};
