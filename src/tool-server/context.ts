import type { LogLevel } from '../protocol/mcp.ts';

/** Application state that handlers read, for example a repository, a cache or the current user. */
export type Assigns = { readonly [name: string]: unknown };

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
  /** Reports progress to the agent. Has no effect if the agent did not request progress. */
  progress(done: number, options?: { total?: number; message?: string }): void;
  /** Sends a log message to the agent if the server has `logging: true`, and to the option `onLog` of `server.call()`. */
  log(level: LogLevel, data: unknown): void;
  /** Sends an MCP notification to the agent. Resolves when the next one can be sent. */
  sendNotification(notification: { method: string; params?: Record<string, unknown> }): Promise<void>;
}

/** The callbacks of a call context, implemented by the session or the direct call that runs it. */
export type CallPort = {
  readonly server: string;
  readonly assigns: object;
  onProgress?(
    progress: { progress: number; total?: number; message?: string },
    meta: Readonly<Record<string, unknown>>,
  ): void;
  onLog?(level: LogLevel, data: unknown): void;
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
  readonly #port: CallPort;
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

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }

  /** Marks the call as answered; later progress is dropped. */
  finish(): void {
    this.#isOver = true;
  }
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
