import { InFlight } from '../base/async/in-flight.ts';
import { isRecord } from '../base/json-value.ts';
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
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import {
  CallContext,
  type CallerAuth,
  type CallObserver,
  type CallPort,
  callerKey,
  type ObservedCall,
} from './context.ts';
import {
  canSubscribe,
  findResource,
  isOwnRequest,
  METHODS,
  type Offering,
  resourceNotFound,
} from './methods.ts';
import { NotificationLimiter } from './notification-limiter.ts';
import { failedResult } from './result.ts';
import { runTool } from './run-tool.ts';
import type { ChannelPort } from './serving/channel.ts';
import {
  type ClientRequest,
  InputRound,
  MISSING_CAPABILITY,
  MissingCapabilityError,
  type RequestStateSeal,
  RUNS_AGAIN,
} from './serving/client-requests.ts';

type Answer = (response: RpcAnswer) => void;
type Running = {
  readonly ctx: CallContext;
  readonly answer: (response: RpcResponse) => void;
  isOver: boolean;
};

/** The session of one user of a tool server: calls run concurrently, each request is answered exactly once. */
export class ToolSession implements McpSession, ChannelPort {
  readonly #server: Offering;
  readonly #port: SessionPort;
  readonly #onClose: () => void;
  /** Shared by all calls, which differ only in their context. */
  readonly #callPort: CallPort;
  readonly #notifications: NotificationLimiter;
  readonly #running = new InFlight<RpcId, Running>();
  /** Requests to the client that it has not answered, by id. Made at the first one, since most sessions have none. */
  #requests: Map<RpcId, SentRequest> | undefined;
  #nextRequest = 0;
  #capabilities: Readonly<Record<string, unknown>> | undefined;
  #logLevel: LogLevel = 'info';
  /** What ends each subscription, by the URI of its resource. */
  #subscriptions: Map<string, () => void> | undefined;
  /** The part of this session that the `McpServer` object of the server handles. */
  #shared: McpSession | undefined;
  #closed = false;

  constructor(server: Offering, port: SessionPort, onClose: () => void) {
    this.#server = server;
    this.#port = port;
    this.#onClose = onClose;
    this.#notifications = new NotificationLimiter((message) => port.send(message));
    this.#capabilities = port.clientCapabilities;
    const session = this;
    this.#callPort = {
      server: port.server,
      assigns: port.assigns,
      // Differs between the requests of an HTTP session.
      get auth() {
        return port.auth;
      },
      onProgress: (progress, { progressToken }) => {
        if (progressToken !== undefined)
          this.notify('notifications/progress', { progressToken, ...progress });
      },
      onNotification: (method, params) => {
        this.notify(method, params);
        return this.#notifications.room;
      },
      onLog: (level, data) => this.#log(level, data),
      hasChannel: server.channel !== undefined,
      get clientCapabilities() {
        return session.#capabilities;
      },
      onRequest: (request, ctx) => this.#request(request, ctx),
    };
  }

  get acceptsPush(): boolean {
    return this.#port.acceptsPush !== false;
  }

  get caller(): string | undefined {
    return callerKey(this.#port.auth);
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
        if (this.#server.channel?.receive(read.method, read.params, this)) answer(undefined);
        else this.#share(message, answer);
        break;
      case 'response':
        if (this.#settleRequest(read.message)) answer(undefined);
        else this.#share(message, answer);
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
    let reason: Error | undefined;
    for (const [id, running] of this.#running) {
      reason ??= new Error(`server '${this.#port.server}' is closed`);
      running.isOver = true;
      running.ctx.abort(reason);
      running.answer(rpcFailure(id, INTERNAL, reason.message));
    }
    this.#running.clear();
    for (const uri of this.#subscriptions?.keys() ?? []) this.#unsubscribe(uri);
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
    } else if (this.#shared && !isOwnRequest(this.#server, method, params)) {
      if (method === 'initialize') this.#readCapabilities(params);
      this.#share({ jsonrpc: '2.0', id, method, params }, answer);
    } else {
      if (method === 'initialize') this.#readCapabilities(params);
      this.#respond(id, method, params, answer);
    }
  }

  #readCapabilities({ capabilities }: Record<string, unknown>): void {
    if (isRecord(capabilities)) this.#capabilities = capabilities;
  }

  #respond(id: RpcId, method: string, params: Record<string, unknown>, answer: Answer): void {
    const ctx = this.#context(id, params);
    try {
      this.#startRound(ctx, method, params);
      const result = this.#changeSubscription(method, params) ?? METHODS[method]?.(this.#server, params, ctx);
      if (!result) {
        answer(rpcFailure(id, METHOD_NOT_FOUND, `Method not found: ${method}`));
      } else if (result instanceof Promise) {
        const running = this.#start(id, ctx, answer);
        result.then(
          (settled) => this.#finish(running, rpcResult(id, settled)),
          (thrown) => this.#finish(running, this.#missingCapability(id, thrown) ?? faultOf(id, thrown)),
        );
      } else {
        answer(rpcResult(id, result));
      }
    } catch (thrown) {
      answer(faultOf(id, thrown));
    }
  }

  /** Handles `resources/subscribe` and `resources/unsubscribe`; undefined for other methods. */
  #changeSubscription(method: string, params: Record<string, unknown>): Record<string, unknown> | undefined {
    const isStart = method === 'resources/subscribe';
    if ((!isStart && method !== 'resources/unsubscribe') || !canSubscribe(this.#server)) return undefined;
    const uri = String(params.uri);
    const resource = findResource(this.#server, uri);
    if (!resource) throw resourceNotFound(uri);
    if (!isStart) this.#unsubscribe(uri);
    else if (resource.subscribe && !this.#subscriptions?.has(uri)) {
      let isOver = false;
      const end = resource.subscribe(() => {
        if (!isOver) this.notify('notifications/resources/updated', { uri });
      });
      this.#subscriptions ??= new Map();
      this.#subscriptions.set(uri, () => {
        isOver = true;
        end();
      });
    }
    return {};
  }

  #unsubscribe(uri: string): void {
    const end = this.#subscriptions?.get(uri);
    this.#subscriptions?.delete(uri);
    try {
      end?.();
    } catch {}
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
    try {
      this.#startRound(ctx, 'tools/call', params);
    } catch (thrown) {
      answer(faultOf(id, thrown));
      return;
    }
    const observed = this.#port.observer?.start({
      server: this.#port.server,
      tool: tool.definition.name,
      ctx,
    });
    const running = this.#start(id, ctx, observed ? observedAnswer(observed, answer) : answer);
    const settle = (result: CallToolResult) =>
      this.#finish(running, this.#missingCapability(id, ctx.failure) ?? rpcResult(id, result));
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
    running.ctx.finish();
    this.#dropRequests(running.ctx);
    this.#notifications.flush();
    running.answer(response);
  }

  /** In MCP 2026-07-28 the client answers requests by sending the call again. Throws for invalid answers. */
  #startRound(ctx: CallContext, method: string, params: Record<string, unknown>): void {
    const { requestStateSeal: seal } = this.#port;
    if (!seal) return;
    ctx.startRound = () => {
      return new InputRound({ seal, method, params, caller: this.caller }, (result) =>
        this.#requireInput(ctx, result),
      );
    };
    const hasAnswers = params.inputResponses !== undefined || params.requestState !== undefined;
    if (hasAnswers) void ctx.round;
  }

  #requireInput(ctx: CallContext, result: Record<string, unknown>): void {
    const id = ctx.requestId as RpcId;
    const running = this.#running.get(id);
    if (running?.ctx !== ctx) return;
    this.#finish(running, rpcResult(id, result));
    ctx.abort(new DOMException(RUNS_AGAIN, 'AbortError'));
  }

  /** Sends a request to the client of an earlier revision. Ends with the call that it belongs to. */
  #request({ method, params }: ClientRequest, ctx: CallContext): Promise<Record<string, unknown>> {
    if (ctx.isAborted || ctx.isFinished) return Promise.reject(endOf(ctx));
    const id = `${method}-${++this.#nextRequest}`;
    const sent = { method, ctx, ...Promise.withResolvers<Record<string, unknown>>() };
    this.#requests ??= new Map();
    this.#requests.set(id, sent);
    ctx.signal.addEventListener('abort', () => this.#dropRequests(ctx), { once: true });
    this.#notifications.flush();
    this.#port.send({ jsonrpc: '2.0', id, method, params }, { relatedRequestId: ctx.requestId });
    return sent.promise;
  }

  #settleRequest(response: RpcResponse): boolean {
    const sent = this.#requests?.get(response.id);
    if (!sent) return false;
    this.#requests?.delete(response.id);
    if ('result' in response && isRecord(response.result)) sent.resolve(response.result);
    else {
      const error: unknown = 'error' in response ? response.error : undefined;
      const fault = isRecord(error)
        ? `an error: ${String(error.message)}`
        : 'an invalid result: the response has neither a result object nor an error object';
      sent.reject(new SdkError('client-request-failed', `The client answered ${sent.method} with ${fault}`));
    }
    return true;
  }

  /** Cancels the open requests of a call that has ended or was aborted. */
  #dropRequests(ctx: CallContext): void {
    const requests = this.#requests;
    if (!requests) return;
    for (const [id, sent] of requests) {
      if (sent.ctx !== ctx) continue;
      requests.delete(id);
      if (!this.#closed) {
        this.notify('notifications/cancelled', { requestId: id, reason: 'the call has ended' });
      }
      sent.reject(endOf(ctx));
    }
  }

  /** The response of MCP 2026-07-28 if the client has not declared a capability that the handler needs. */
  #missingCapability(id: RpcId, thrown: unknown): RpcResponse | undefined {
    if (!this.#port.requestStateSeal || !(thrown instanceof MissingCapabilityError)) return undefined;
    const { message, requiredCapabilities } = thrown;
    return rpcFailure(id, MISSING_CAPABILITY, message, { requiredCapabilities });
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

type SentRequest = PromiseWithResolvers<Record<string, unknown>> & {
  readonly method: string;
  readonly ctx: CallContext;
};

/** Why a call can make no requests any more. */
function endOf(ctx: CallContext): unknown {
  return ctx.isAborted ? ctx.signal.reason : new DOMException('The call has ended', 'AbortError');
}

function observedAnswer(observed: ObservedCall, answer: Answer): (response: RpcResponse) => void {
  return (response) => {
    observed.end('error' in response ? 'cancelled' : response.result.isError ? 'error' : 'ok');
    answer(response);
  };
}

function faultOf(id: RpcId, thrown: unknown): RpcResponse {
  const { code, data } = thrown instanceof RpcMethodError ? thrown : { code: INTERNAL, data: undefined };
  return rpcFailure(id, code, messageOf(thrown), data);
}

/** The connection of a session to its user, and the state of the attachment. */
export type SessionPort = {
  /** The key of the server in the user's configuration. */
  readonly server: string;
  readonly assigns: object;
  /** The caller of the message that is handled now. */
  readonly auth?: CallerAuth | undefined;
  /** False if messages can be sent only during a request. */
  readonly acceptsPush?: boolean;
  /** The capabilities of the client, if they are known before a handshake. */
  readonly clientCapabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Set for clients of MCP 2026-07-28, which accept no requests of the server. */
  readonly requestStateSeal?: RequestStateSeal | undefined;
  /**
   * Sends notifications and requests to the user; must not throw. A returned promise settles when there is room for more.
   * `relatedRequestId` is the id of the request during which a request is sent.
   */
  send(message: RpcMessage, options?: { relatedRequestId?: RpcId | undefined }): unknown;
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
