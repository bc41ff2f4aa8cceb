import { InFlight } from '../base/in-flight.ts';
import {
  CANCELLED,
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  RpcFault,
  type RpcId,
  type RpcResponse,
  readRpc,
  rpcFailure,
  rpcResult,
} from '../protocol/json-rpc.ts';
import { LOG_LEVELS, type LogLevel } from '../protocol/mcp.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { CallContext, type CallPort } from './context.ts';
import type { McpSession, RpcAnswer, SessionPort } from './mcp-session.ts';
import { METHODS } from './methods.ts';
import type { Offering } from './offer.ts';
import { failedResult } from './result.ts';
import { runTool } from './run.ts';

type Running = { readonly ctx: CallContext; readonly settle: (response: RpcResponse) => void };

/** One user's conversation with a tool server: calls run at once, each request is answered exactly once. */
export class ToolSession implements McpSession {
  readonly #server: Offering;
  readonly #port: SessionPort;
  readonly #onClose: () => void;
  /** One for all calls: a call differs only by its context. */
  readonly #callPort: CallPort;
  readonly #running = new InFlight<RpcId, Running>();
  #logLevel: LogLevel = 'info';
  #closed = false;

  constructor(server: Offering, port: SessionPort, onClose: () => void) {
    this.#server = server;
    this.#port = port;
    this.#onClose = onClose;
    this.#callPort = {
      server: port.server,
      assigns: port.assigns,
      onProgress: (progress, { progressToken }) => {
        if (progressToken !== undefined)
          this.notify('notifications/progress', { progressToken, ...progress });
      },
      onNotification: (method, params) => this.notify(method, params),
      onLog: (level, data) => this.#log(level, data),
    };
  }

  receive(message: unknown): RpcAnswer | Promise<RpcAnswer> {
    const read = readRpc(message);
    switch (read.kind) {
      case 'request':
        return this.#answer(read.id, read.method, read.params);
      case 'notification':
        if (read.method === 'notifications/cancelled') this.#cancel(read.params);
        return undefined;
      case 'response':
        return undefined;
      case 'malformed':
        return read.id === undefined ? undefined : rpcFailure(read.id, INVALID_REQUEST, read.reason);
    }
  }

  notify(method: string, params?: Record<string, unknown>): void {
    if (!this.#closed)
      this.#port.send(params ? { method, params, jsonrpc: '2.0' } : { method, jsonrpc: '2.0' });
  }

  /** Calls still running are aborted and answered as such. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const reason = new Error(`server '${this.#port.server}' is closed`);
    for (const [id, running] of this.#running) {
      running.ctx.abort(reason);
      running.settle(rpcFailure(id, INTERNAL, reason.message));
    }
    this.#running.clear();
    this.#onClose();
  }

  #answer(id: RpcId, method: string, params: Record<string, unknown>): RpcResponse | Promise<RpcResponse> {
    if (this.#closed) return rpcFailure(id, INTERNAL, `server '${this.#port.server}' is closed`);
    if (this.#running.has(id)) {
      return rpcFailure(id, INVALID_REQUEST, `a request with id ${JSON.stringify(id)} is already in flight`);
    }
    if (method === 'tools/call') return this.#call(id, params);
    if (method === 'logging/setLevel' && this.#server.options.logging) return this.#setLevel(id, params);
    return this.#respond(id, method, params);
  }

  #respond(id: RpcId, method: string, params: Record<string, unknown>): RpcResponse | Promise<RpcResponse> {
    const ctx = this.#context(id, params);
    try {
      const result = METHODS[method]?.(this.#server, params, ctx);
      if (!result) return rpcFailure(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
      if (!(result instanceof Promise)) return rpcResult(id, result);
      return this.#track(id, ctx, () => result);
    } catch (thrown) {
      return faultOf(id, thrown);
    }
  }

  #call(id: RpcId, params: Record<string, unknown>): RpcResponse | Promise<RpcResponse> {
    const { name, arguments: args = {} } = params;
    const tool = typeof name === 'string' ? this.#server.find(name) : undefined;
    if (!tool) {
      const fault =
        typeof name === 'string' ? `Tool '${name}' not found` : 'tools/call needs the name of a tool';
      return this.#server.options.strictProtocolErrors || typeof name !== 'string'
        ? rpcFailure(id, INVALID_PARAMS, fault)
        : rpcResult(id, failedResult(fault));
    }
    const ctx = this.#context(id, params);
    const observed = this.#port.observer?.start({
      server: this.#port.server,
      tool: tool.definition.name,
      ctx,
    });
    const run = () => runTool(tool, args, ctx);
    const answered = this.#track(id, ctx, observed ? () => observed.run(run) : run);
    if (!observed) return answered;
    return answered.then((response) => {
      observed.end('error' in response ? 'cancelled' : response.result.isError ? 'error' : 'ok');
      return response;
    });
  }

  /** The answer of `work`, or of whoever takes the request back before; what comes late is dropped. */
  #track(id: RpcId, ctx: CallContext, work: () => Promise<Record<string, unknown>>): Promise<RpcResponse> {
    return new Promise((settle) => {
      this.#running.set(id, { ctx, settle });
      const finish = (response: RpcResponse) => {
        if (this.#running.get(id)?.ctx !== ctx) return;
        this.#running.delete(id);
        settle(response);
      };
      work().then(
        (result) => finish(rpcResult(id, result)),
        (thrown) => finish(faultOf(id, thrown)),
      );
    });
  }

  #cancel(params: Record<string, unknown>): void {
    const id = params.requestId as RpcId;
    const running = this.#running.get(id);
    if (!running) return;
    this.#running.delete(id);
    const reason = typeof params.reason === 'string' ? params.reason : 'cancelled';
    running.ctx.abort(new DOMException(reason, 'AbortError'));
    running.settle(rpcFailure(id, CANCELLED, `Request cancelled: ${reason}`));
  }

  #context(id: RpcId, params: Record<string, unknown>): CallContext {
    const meta = (typeof params._meta === 'object' && params._meta) || {};
    return new CallContext(this.#callPort, meta as Record<string, unknown>, id);
  }

  #setLevel(id: RpcId, params: Record<string, unknown>): RpcResponse {
    if (!LOG_LEVELS.includes(params.level as LogLevel)) {
      return rpcFailure(id, INVALID_PARAMS, `unknown level; known are ${LOG_LEVELS.join(', ')}`);
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

function faultOf(id: RpcId, thrown: unknown): RpcResponse {
  return rpcFailure(id, thrown instanceof RpcFault ? thrown.code : INTERNAL, messageOf(thrown));
}
