import { InFlight } from '../base/async/in-flight.ts';
import {
  CANCELLED,
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type RpcId,
  type RpcMessage,
  RpcMethodError,
  type RpcResponse,
  readRpc,
  rpcFailure,
  rpcResult,
} from '../protocol/json-rpc.ts';
import { type CallToolResult, LOG_LEVELS, type LogLevel, MCP_VERSIONS } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { CallContext, type CallObserver, type CallPort, type ObservedCall } from './context.ts';
import { METHODS, type Offering } from './methods.ts';
import { NotificationLimiter } from './notification-limiter.ts';

import { failedResult } from './result.ts';
import { runTool } from './tool.ts';

type Answer = (response: RpcAnswer) => void;
type Running = {
  readonly ctx: CallContext;
  readonly answer: (response: RpcResponse) => void;
  isOver: boolean;
};

/** The session of one user of a tool server: calls run concurrently, each request is answered exactly once. */
export class ToolSession implements McpSession {
  readonly #server: Offering;
  readonly #port: SessionPort;
  readonly #onClose: () => void;
  /** Shared by all calls, which differ only in their context. */
  readonly #callPort: CallPort;
  readonly #notifications: NotificationLimiter;
  readonly #running = new InFlight<RpcId, Running>();
  #logLevel: LogLevel = 'info';
  /** The part of this session that the `McpServer` object of the server handles. */
  #shared: McpSession | undefined;
  #closed = false;

  constructor(server: Offering, port: SessionPort, onClose: () => void) {
    this.#server = server;
    this.#port = port;
    this.#onClose = onClose;
    this.#notifications = new NotificationLimiter((message) => port.send(message));
    this.#callPort = {
      server: port.server,
      assigns: port.assigns,
      onProgress: (progress, { progressToken }) => {
        if (progressToken !== undefined)
          this.notify('notifications/progress', { progressToken, ...progress });
      },
      onNotification: (method, params) => {
        this.notify(method, params);
        return this.#notifications.room;
      },
      onLog: (level, data) => this.#log(level, data),
    };
  }

  receive(message: unknown): Promise<RpcAnswer> {
    return new Promise((resolve) => this.take(message, resolve));
  }

  take(message: unknown, answer: Answer): void {
    const read = readRpc(message);
    switch (read.kind) {
      case 'request':
        this.#serve(read.id, read.method, read.params, answer);
        break;
      case 'notification':
        if (read.method === 'notifications/cancelled') this.#cancel(read.params);
        this.#share(message, answer);
        break;
      case 'response':
        this.#share(message, answer);
        break;
      case 'malformed':
        answer(read.id === undefined ? undefined : rpcFailure(read.id, INVALID_REQUEST, read.reason));
    }
  }

  /** From now on, another session handles everything but the calls of tools that the server finds. */
  share(open: (port: SessionPort) => McpSession): void {
    this.#shared = open(this.#port);
  }

  /** Makes the handshake for a session that was shared after its own handshake. */
  initializeShared(): void {
    const params = {
      protocolVersion: MCP_VERSIONS[0],
      capabilities: {},
      clientInfo: { name: 'toolplane', version: '1.0.0' },
    };
    void this.#shared?.receive({ jsonrpc: '2.0', id: 'initialize', method: 'initialize', params });
    void this.#shared?.receive({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  #share(message: unknown, answer: Answer): void {
    if (this.#shared) void this.#shared.receive(message).then(answer);
    else answer(undefined);
  }

  notify(method: string, params?: Record<string, unknown>): void {
    if (!this.#closed)
      this.#notifications.send(params ? { method, params, jsonrpc: '2.0' } : { method, jsonrpc: '2.0' });
  }

  /** Aborts running calls and answers them with an error. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const reason = new Error(`server '${this.#port.server}' is closed`);
    for (const [id, running] of this.#running) {
      running.isOver = true;
      running.ctx.abort(reason);
      running.answer(rpcFailure(id, INTERNAL, reason.message));
    }
    this.#running.clear();
    this.#shared?.close();
    this.#onClose();
  }

  #serve(id: RpcId, method: string, params: Record<string, unknown>, answer: Answer): void {
    if (this.#closed) {
      answer(rpcFailure(id, INTERNAL, `server '${this.#port.server}' is closed`));
    } else if (this.#running.has(id)) {
      const fault = `a request with id ${JSON.stringify(id)} is already in flight`;
      answer(rpcFailure(id, INVALID_REQUEST, fault));
    } else if (method === 'tools/call') {
      this.#call(id, params, answer);
    } else if (method === 'logging/setLevel' && this.#server.options.logging) {
      answer(this.#setLevel(id, params));
    } else if (this.#shared) {
      this.#share({ jsonrpc: '2.0', id, method, params }, answer);
    } else {
      this.#respond(id, method, params, answer);
    }
  }

  #respond(id: RpcId, method: string, params: Record<string, unknown>, answer: Answer): void {
    const ctx = this.#context(id, params);
    try {
      const result = METHODS[method]?.(this.#server, params, ctx);
      if (!result) {
        answer(rpcFailure(id, METHOD_NOT_FOUND, `Method not found: ${method}`));
      } else if (result instanceof Promise) {
        const running = this.#start(id, ctx, answer);
        result.then(
          (settled) => this.#finish(running, rpcResult(id, settled)),
          (thrown) => this.#finish(running, faultOf(id, thrown)),
        );
      } else {
        answer(rpcResult(id, result));
      }
    } catch (thrown) {
      answer(faultOf(id, thrown));
    }
  }

  #call(id: RpcId, params: Record<string, unknown>, answer: Answer): void {
    const { name, arguments: args = {} } = params;
    const tool = typeof name === 'string' ? this.#server.find(name) : undefined;
    if (!tool) {
      if (this.#shared) this.#share({ jsonrpc: '2.0', id, method: 'tools/call', params }, answer);
      else answer(this.#unknownTool(id, name));
      return;
    }
    const ctx = this.#context(id, params);
    const observed = this.#port.observer?.start({
      server: this.#port.server,
      tool: tool.definition.name,
      ctx,
    });
    const running = this.#start(id, ctx, observed ? observedAnswer(observed, answer) : answer);
    const settle = (result: CallToolResult) => this.#finish(running, rpcResult(id, result));
    if (observed) void observed.run(() => runTool(tool, args, ctx, settle));
    else void runTool(tool, args, ctx, settle);
  }

  #unknownTool(id: RpcId, name: unknown): RpcResponse {
    const isName = typeof name === 'string';
    const fault = isName ? `Tool '${name}' not found` : 'tools/call needs the name of a tool';
    return this.#server.options.strictProtocolErrors || !isName
      ? rpcFailure(id, INVALID_PARAMS, fault)
      : rpcResult(id, failedResult(fault));
  }

  #start(id: RpcId, ctx: CallContext, answer: Running['answer']): Running {
    const running = { ctx, answer, isOver: false };
    this.#running.set(id, running);
    return running;
  }

  /** Answers a request once; the result of a cancelled request is dropped, since the cancellation answered it. */
  #finish(running: Running, response: RpcResponse): void {
    if (running.isOver) return;
    running.isOver = true;
    this.#running.delete(response.id);
    this.#notifications.flush();
    running.answer(response);
  }

  #cancel(params: Record<string, unknown>): void {
    const id = params.requestId as RpcId;
    const running = this.#running.get(id);
    if (!running) return;
    running.isOver = true;
    this.#running.delete(id);
    const reason = typeof params.reason === 'string' ? params.reason : 'cancelled';
    running.ctx.abort(new DOMException(reason, 'AbortError'));
    running.answer(rpcFailure(id, CANCELLED, `Request cancelled: ${reason}`));
  }

  #context(id: RpcId, params: Record<string, unknown>): CallContext {
    const meta = (typeof params._meta === 'object' && params._meta) || {};
    return new CallContext(this.#callPort, meta as Record<string, unknown>, id);
  }

  #setLevel(id: RpcId, params: Record<string, unknown>): RpcResponse {
    if (!LOG_LEVELS.includes(params.level as LogLevel)) {
      return rpcFailure(id, INVALID_PARAMS, `unknown level; use one of ${LOG_LEVELS.join(', ')}`);
    }
    this.#logLevel = params.level as LogLevel;
    return rpcResult(id, {});
  }

  #log(level: LogLevel, data: unknown): void {
    this.#port.onLog?.(level, data);
    const isWanted = LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(this.#logLevel);
    if (this.#server.options.logging && isWanted) {
      this.notify('notifications/message', { level, logger: this.#server.name, data });
    }
  }
}

function observedAnswer(observed: ObservedCall, answer: Answer): (response: RpcResponse) => void {
  return (response) => {
    observed.end('error' in response ? 'cancelled' : response.result.isError ? 'error' : 'ok');
    answer(response);
  };
}

function faultOf(id: RpcId, thrown: unknown): RpcResponse {
  return rpcFailure(id, thrown instanceof RpcMethodError ? thrown.code : INTERNAL, messageOf(thrown));
}

/** The connection of a session to its user, and the state of the attachment. */
export type SessionPort = {
  /** The key of the server in the user's configuration. */
  readonly server: string;
  readonly assigns: object;
  /** Sends notifications to the user; must not throw. A returned promise settles when there is room for more. */
  send(message: RpcMessage): unknown;
  onLog?(level: LogLevel, data: unknown): void;
  readonly observer?: CallObserver | undefined;
};

/** The response to a message; undefined for notifications and responses. */
export type RpcAnswer = RpcResponse | undefined;

/** One session of an in-process MCP server, ours or a foreign one. */
export interface McpSession {
  /** Handles one message. Resolves with the response to a request, with undefined for other messages. Never rejects. */
  receive(message: unknown): Promise<RpcAnswer>;
  /** The same without a promise, for sessions that support it: `answer` is called exactly once and must not throw. */
  take?(message: unknown, answer: (response: RpcAnswer) => void): void;
  close(): void;
}
