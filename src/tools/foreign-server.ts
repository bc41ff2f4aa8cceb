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
import type { McpSession, SessionPort } from './mcp-session.ts';
import type { Transport } from './transport.ts';

/** An `McpServer` of the official MCP SDK, version 1 or 2, or anything that connects to a transport as they do. */
export type ForeignServer = { connect(transport: never): Promise<void>; close(): Promise<void> };

export function isForeignServer(value: unknown): value is ForeignServer {
  return (
    typeof value === 'object' && value !== null && 'connect' in value && typeof value.connect === 'function'
  );
}

const multiplexers = new WeakMap<ForeignServer, Multiplexer>();

/** Such an instance can hold one session only, so all its users share it (a factory gives each its own). */
export function openForeignSession(server: ForeignServer, port: SessionPort): McpSession {
  let multiplexer = multiplexers.get(server);
  if (!multiplexer || multiplexer.isOver) {
    multiplexer = new Multiplexer(server);
    multiplexers.set(server, multiplexer);
  }
  return multiplexer.attach(port);
}

type Pending = { user: User; id: RpcId; token: unknown; settle: (response: RpcResponse) => void };

/** Many users, one session: ids and progress tokens are rewritten on the way in and restored on the way out. */
class Multiplexer {
  readonly #server: ForeignServer;
  readonly #users = new Set<User>();
  readonly #pending = new Map<number, Pending>();
  readonly #asked = new Map<number, RpcId>();
  readonly #transport: Transport;
  #connected: Promise<void> | undefined;
  #initialized: Promise<RpcResponse> | undefined;
  #nextId = 0;
  isOver = false;

  constructor(server: ForeignServer) {
    this.#server = server;
    this.#transport = {
      start: async () => {},
      send: async (message, options) => this.#fromServer(message, options?.relatedRequestId),
      close: async () => this.#transport.onclose?.(),
    };
  }

  attach(port: SessionPort): McpSession {
    const user = new User(this, port);
    this.#users.add(user);
    return user;
  }

  async request(user: User, request: RpcRequest): Promise<RpcResponse> {
    try {
      await this.#connect();
    } catch (cause) {
      return rpcFailure(
        request.id,
        INTERNAL,
        `server '${user.port.server}' did not start: ${messageOf(cause)}`,
      );
    }
    if (request.method !== 'initialize') return this.#forward(user, request);
    this.#initialized ??= this.#forward(user, request);
    const answer = await this.#initialized;
    if ('error' in answer) this.#initialized = undefined;
    return { ...answer, id: request.id };
  }

  async notification(user: User, method: string, params: Record<string, unknown>): Promise<void> {
    await this.#connect().catch(() => {});
    if (method !== 'notifications/cancelled') {
      this.#toServer({ jsonrpc: '2.0', method, params });
      return;
    }
    const call = [...this.#pending].find(([, it]) => it.user === user && it.id === params.requestId);
    if (!call) return;
    const [inner, { id, settle }] = call;
    this.#toServer({ jsonrpc: '2.0', method, params: { ...params, requestId: inner } });
    this.#pending.delete(inner);
    settle(rpcFailure(id, CANCELLED, `Request cancelled: ${params.reason ?? 'cancelled'}`));
  }

  response(message: RpcResponse): void {
    const asked = this.#asked.get(message.id as number);
    if (asked === undefined) return;
    this.#asked.delete(message.id as number);
    this.#toServer({ ...message, id: asked });
  }

  isRunning(user: User, id: RpcId): boolean {
    return [...this.#pending.values()].some((call) => call.user === user && call.id === id);
  }

  detach(user: User): void {
    this.#users.delete(user);
    for (const [inner, call] of this.#pending) {
      if (call.user !== user) continue;
      this.#toServer({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: inner } });
      this.#pending.delete(inner);
      call.settle(rpcFailure(call.id, INTERNAL, `server '${user.port.server}' is closed`));
    }
  }

  #connect(): Promise<void> {
    if (!this.#connected) {
      this.#connected = this.#server.connect(this.#transport as never);
      // The server's own handlers were installed by connect(); ours run first.
      this.#connected.then(
        () => {
          const closed = this.#transport.onclose;
          this.#transport.onclose = () => {
            closed?.();
            this.#over();
          };
        },
        () => this.#over(),
      );
    }
    return this.#connected;
  }

  #forward(user: User, request: RpcRequest): Promise<RpcResponse> {
    if (this.isOver) {
      return Promise.resolve(rpcFailure(request.id, INTERNAL, `server '${user.port.server}' stopped`));
    }
    const inner = this.#nextId++;
    const meta = request.params?._meta as Record<string, unknown> | undefined;
    const token = meta?.progressToken;
    const params =
      token === undefined ? request.params : { ...request.params, _meta: { ...meta, progressToken: inner } };
    return new Promise((settle) => {
      this.#pending.set(inner, { user, id: request.id, token, settle });
      this.#toServer({ ...request, id: inner, ...(params && { params }) });
    });
  }

  #toServer(message: RpcMessage): void {
    (this.#transport.onmessage as ((message: RpcMessage) => void) | undefined)?.(message);
  }

  #fromServer(message: RpcMessage, related: RpcId | undefined): void {
    const read = readRpc(message);
    if (read.kind === 'response') {
      const call = this.#pending.get(read.id as number);
      this.#pending.delete(read.id as number);
      call?.settle({ ...read.message, id: call.id });
    } else if (read.kind === 'notification') {
      this.#broadcast(read.method, read.params);
    } else if (read.kind === 'request') {
      this.#ask(message as RpcRequest, related);
    }
  }

  /** Progress goes to the one whose call it is; everything else to all. */
  #broadcast(method: string, params: Record<string, unknown>): void {
    if (method === 'notifications/progress') {
      const call = this.#pending.get(params.progressToken as number);
      call?.user.port.send({ jsonrpc: '2.0', method, params: { ...params, progressToken: call.token } });
      return;
    }
    const isBare = Object.keys(params).length === 0;
    for (const user of this.#users) {
      user.port.send(isBare ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params });
    }
  }

  /** The server asks a user: the one whose call is running. */
  #ask(request: RpcRequest, related: RpcId | undefined): void {
    const call = this.#pending.get(related as number) ?? [...this.#pending.values()].at(-1);
    const user = call?.user ?? [...this.#users][0];
    if (!user) {
      this.#toServer(rpcFailure(request.id, INTERNAL, 'nobody is connected'));
      return;
    }
    const outer = this.#nextId++;
    this.#asked.set(outer, request.id);
    user.port.send({ ...request, id: outer });
  }

  #over(): void {
    this.isOver = true;
    for (const { user, id, settle } of this.#pending.values()) {
      settle(rpcFailure(id, INTERNAL, `server '${user.port.server}' stopped`));
    }
    this.#pending.clear();
  }
}

class User implements McpSession {
  readonly port: SessionPort;
  readonly #multiplexer: Multiplexer;
  #closed = false;

  constructor(multiplexer: Multiplexer, port: SessionPort) {
    this.#multiplexer = multiplexer;
    this.port = port;
  }

  async receive(message: unknown): Promise<RpcResponse | undefined> {
    const read = readRpc(message);
    if (read.kind === 'malformed') {
      return read.id === undefined ? undefined : rpcFailure(read.id, INVALID_REQUEST, read.reason);
    }
    if (read.kind === 'response') this.#multiplexer.response(read.message);
    if (read.kind === 'notification') await this.#multiplexer.notification(this, read.method, read.params);
    if (read.kind !== 'request') return undefined;
    if (this.#closed) return rpcFailure(read.id, INTERNAL, `server '${this.port.server}' is closed`);
    if (this.#multiplexer.isRunning(this, read.id)) {
      return rpcFailure(
        read.id,
        INVALID_REQUEST,
        `a request with id ${JSON.stringify(read.id)} is already in flight`,
      );
    }
    return this.#multiplexer.request(this, message as RpcRequest);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#multiplexer.detach(this);
  }
}
