import { isRecord } from '../base/json-value.ts';
import {
  CANCELLED,
  INTERNAL,
  INVALID_REQUEST,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
  type RpcResponse,
  readRpc,
  rpcFailure,
} from '../protocol/json-rpc.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { NotificationLimiter } from './notification-limiter.ts';
import type { Transport } from './serving/serve.ts';
import type { McpSession, SessionPort } from './session.ts';

/** An `McpServer` of the official MCP SDK, version 1 or 2, or anything that connects to a transport as they do. */
export type ForeignServer = { connect(transport: never): Promise<void>; close(): Promise<void> };

export function isForeignServer(value: unknown): value is ForeignServer {
  return (
    typeof value === 'object' && value !== null && 'connect' in value && typeof value.connect === 'function'
  );
}

const multiplexers = new WeakMap<ForeignServer, Multiplexer>();

/** An instance supports one session only, so all its users share it (a factory creates one for each). */
export function openForeignSession(server: ForeignServer, port: SessionPort): McpSession {
  let multiplexer = multiplexers.get(server);
  if (!multiplexer) {
    multiplexer = new Multiplexer((transport) => server.connect(transport as never));
    multiplexers.set(server, multiplexer);
  }
  return new SharedSession(multiplexer, port);
}

/** One user's part of the shared session: it looks like a session of its own. */
class SharedSession implements McpSession {
  readonly port: SessionPort;
  readonly #multiplexer: Multiplexer;
  readonly #notifications: NotificationLimiter;
  readonly #inFlight = new Set<RpcId>();
  #closed = false;

  constructor(multiplexer: Multiplexer, port: SessionPort) {
    this.#notifications = new NotificationLimiter((message) => port.send(message));
    this.port = { ...port, send: (message) => this.#notifications.send(message) };
    this.#multiplexer = multiplexer;
    multiplexer.attach(this);
  }

  async receive(message: unknown): Promise<RpcResponse | undefined> {
    const read = readRpc(message);
    switch (read.kind) {
      case 'request':
        return this.#request(read.id, read.method, read.params);
      case 'notification':
        if (!this.#closed) await this.#multiplexer.notification(this, read.method, read.params);
        return undefined;
      case 'response':
        if (!this.#closed) this.#multiplexer.response(this, read.message);
        return undefined;
      case 'malformed':
        return read.id === undefined ? undefined : rpcFailure(read.id, INVALID_REQUEST, read.reason);
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#multiplexer.detach(this);
  }

  async #request(id: RpcId, method: string, params: Record<string, unknown>): Promise<RpcResponse> {
    if (this.#closed) return rpcFailure(id, INTERNAL, `server '${this.port.server}' is closed`);
    if (this.#inFlight.has(id)) {
      return rpcFailure(id, INVALID_REQUEST, `a request with id ${JSON.stringify(id)} is already in flight`);
    }
    // The official servers do not answer such a message.
    if (params._meta !== undefined && !isRecord(params._meta)) {
      return rpcFailure(id, INVALID_REQUEST, `the _meta of ${method} is not an object`);
    }
    this.#inFlight.add(id);
    try {
      return await this.#multiplexer.request(this, { jsonrpc: '2.0', id, method, params });
    } finally {
      this.#notifications.flush();
      this.#inFlight.delete(id);
    }
  }
}

/** A forwarded request. The shared `initialize` has no user, so that it is not cancelled when a user leaves. */
type Call = {
  user: SessionUser | undefined;
  server: string;
  id: RpcId;
  token: unknown;
  settle: (response: RpcResponse) => void;
};

/** One connection of the server, from connect to close. */
type Connection = {
  readonly transport: Transport;
  /** The error that kept the server from starting, if any. */
  readonly fault: Promise<string | undefined>;
  initialized: Promise<RpcResponse> | undefined;
  isAnnounced: boolean;
  isOver: boolean;
};

/** Multiplexes many users on one session: ids and progress tokens are rewritten in requests and restored in responses. */
export class Multiplexer {
  readonly #connectServer: (transport: Transport) => Promise<void>;
  readonly #users = new Set<SessionUser>();
  /** Forwarded requests by the id used toward the server. */
  readonly #calls = new Map<number, Call>();
  readonly #questions = new ServerRequests();
  #connection: Connection | undefined;
  #nextId = 0;

  constructor(connectServer: (transport: Transport) => Promise<void>) {
    this.#connectServer = connectServer;
  }

  attach(user: SessionUser): void {
    this.#forgetEnded();
    this.#users.add(user);
  }

  /** Removes a user; when the last one leaves, the connection ends and the owner can use the instance again. */
  detach(user: SessionUser): void {
    this.#users.delete(user);
    const closed = `server '${user.port.server}' is closed`;
    for (const [inner, call] of this.#calls) {
      if (call.user === user) this.#takeBack(inner, call, {}, rpcFailure(call.id, INTERNAL, closed));
    }
    for (const id of this.#questions.leave(user)) this.#toServer(rpcFailure(id, INTERNAL, closed));
    if (this.#users.size === 0) this.#connection?.transport.onclose?.();
  }

  async request(user: SessionUser, request: RpcRequest): Promise<RpcResponse> {
    const { server } = user.port;
    if (request.method === 'initialize') this.#forgetEnded();
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    const fault = await connection.fault;
    if (fault !== undefined) {
      connection.isOver = true;
      return rpcFailure(request.id, INTERNAL, `server '${server}' did not start: ${fault}`);
    }
    if (connection.isOver) return rpcFailure(request.id, INTERNAL, `server '${server}' stopped`);
    if (!this.#users.has(user)) return rpcFailure(request.id, INTERNAL, `server '${server}' is closed`);
    if (request.method !== 'initialize') return this.#forward(request, user, server);
    connection.initialized ??= this.#forward(request, undefined, server);
    const answer = await connection.initialized;
    if ('error' in answer) connection.initialized = undefined;
    return { ...answer, id: request.id };
  }

  async notification(user: SessionUser, method: string, params: Record<string, unknown>): Promise<void> {
    const connection = this.#connection;
    if (!connection || (await connection.fault) !== undefined || connection.isOver) return;
    if (method === 'notifications/cancelled') {
      const call = [...this.#calls].find(([, it]) => it.user === user && it.id === params.requestId);
      const reason = typeof params.reason === 'string' ? params.reason : 'cancelled';
      if (call) {
        this.#takeBack(...call, params, rpcFailure(call[1].id, CANCELLED, `Request cancelled: ${reason}`));
      }
      return;
    }
    // The server gets one `initialized` notification.
    if (method === 'notifications/initialized' && connection.isAnnounced) return;
    connection.isAnnounced ||= method === 'notifications/initialized';
    this.#toServer(withParams({ jsonrpc: '2.0', method }, params));
  }

  response(user: SessionUser, message: RpcResponse): void {
    const id = this.#questions.answer(user, message.id);
    if (id !== undefined) this.#toServer({ ...message, jsonrpc: '2.0', id });
  }

  #connect(): Connection {
    const transport: Transport = {
      start: async () => {},
      send: async (message, options) => this.#fromServer(message, options?.relatedRequestId),
      close: async () => transport.onclose?.(),
      // Servers call an existing handler before their own.
      onclose: () => this.#ended(connection),
    };
    const start = async () => {
      try {
        await this.#connectServer(transport);
      } catch (cause) {
        return messageOf(cause);
      }
    };
    const connection: Connection = {
      transport,
      fault: start(),
      initialized: undefined,
      isAnnounced: false,
      isOver: false,
    };
    return connection;
  }

  #forgetEnded(): void {
    if (this.#connection?.isOver) this.#connection = undefined;
  }

  #forward(request: RpcRequest, user: SessionUser | undefined, server: string): Promise<RpcResponse> {
    const inner = this.#nextId++;
    const meta = request.params?._meta as Record<string, unknown> | undefined;
    const token = meta?.progressToken;
    const params =
      token === undefined ? request.params : { ...request.params, _meta: { ...meta, progressToken: inner } };
    return new Promise((settle) => {
      this.#calls.set(inner, { user, server, id: request.id, token, settle });
      this.#toServer(withParams({ jsonrpc: '2.0', id: inner, method: request.method }, params));
    });
  }

  /** Cancels a request at the server and answers the caller now; a later response of the server is dropped. */
  #takeBack(inner: number, call: Call, params: Record<string, unknown>, answer: RpcResponse): void {
    this.#calls.delete(inner);
    this.#toServer({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { ...params, requestId: inner },
    });
    call.settle(answer);
  }

  #toServer(message: RpcMessage): void {
    const { onmessage } = this.#connection?.transport ?? {};
    (onmessage as ((message: RpcMessage) => void) | undefined)?.(message);
  }

  #fromServer(message: RpcMessage, related: RpcId | undefined): void {
    const read = readRpc(message);
    if (read.kind === 'response') {
      const call = this.#calls.get(read.id as number);
      this.#calls.delete(read.id as number);
      call?.settle({ ...read.message, id: call.id });
    } else if (read.kind === 'notification') {
      this.#notify(read.method, read.params);
    } else if (read.kind === 'request') {
      this.#ask(message as RpcRequest, related);
    }
  }

  /** Routes a notification: progress to the caller, a cancellation to the user that was asked, everything else to all users. */
  #notify(method: string, params: Record<string, unknown>): void {
    if (method === 'notifications/progress') {
      const call = this.#calls.get(params.progressToken as number);
      call?.user?.port.send({ jsonrpc: '2.0', method, params: { ...params, progressToken: call.token } });
    } else if (method === 'notifications/cancelled') {
      this.#questions.takeBack(params);
    } else {
      for (const user of this.#users) user.port.send(withParams({ jsonrpc: '2.0', method }, params));
    }
  }

  /** The server asks a user: the one whose call is running. */
  #ask(request: RpcRequest, related: RpcId | undefined): void {
    const call = this.#calls.get(related as number) ?? [...this.#calls.values()].at(-1);
    const user = call?.user ?? [...this.#users][0];
    if (user) this.#questions.ask(user, request);
    else this.#toServer(rpcFailure(request.id, INTERNAL, 'no client is connected'));
  }

  #ended(connection: Connection): void {
    connection.isOver = true;
    if (connection !== this.#connection) return;
    for (const { server, id, settle } of this.#calls.values()) {
      settle(rpcFailure(id, INTERNAL, `server '${server}' stopped`));
    }
    this.#calls.clear();
    this.#questions.clear();
  }
}

/** The messages of the official servers omit empty `params`. */
function withParams<Message extends RpcMessage>(
  message: Message,
  params: Record<string, unknown> | undefined,
): Message {
  return params && Object.keys(params).length > 0 ? { ...message, params } : message;
}

/** One user of the shared session; responses and progress are routed by its identity. */
export type SessionUser = { readonly port: SessionPort };

/** Pending requests of a shared server to its users. Each gets its own id, and only the user that was asked can answer. */
export class ServerRequests {
  readonly #open = new Map<RpcId, { user: SessionUser; id: RpcId }>();
  #nextId = 0;

  ask(user: SessionUser, request: RpcRequest): void {
    const asked = this.#nextId++;
    this.#open.set(asked, { user, id: request.id });
    user.port.send({ ...request, id: asked });
  }

  /** The server's own id of the request that `user` answers; undefined if there is none. */
  answer(user: SessionUser, asked: RpcId): RpcId | undefined {
    const question = this.#open.get(asked);
    if (question?.user !== user) return undefined;
    this.#open.delete(asked);
    return question.id;
  }

  /** Forwards a cancellation by the server to the user that was asked. */
  takeBack(params: Record<string, unknown>): void {
    const question = [...this.#open].find(([, { id }]) => id === params.requestId);
    if (!question) return;
    const [asked, { user }] = question;
    this.#open.delete(asked);
    user.port.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { ...params, requestId: asked },
    });
  }

  /** The server's own ids of the requests that `user` has not answered. */
  leave(user: SessionUser): RpcId[] {
    const left = [...this.#open].filter(([, question]) => question.user === user);
    return left.map(([asked, { id }]) => {
      this.#open.delete(asked);
      return id;
    });
  }

  clear(): void {
    this.#open.clear();
  }
}
