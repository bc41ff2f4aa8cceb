import { isRecord } from '../base/is-record.ts';
import {
  INTERNAL,
  INVALID_REQUEST,
  type RpcId,
  type RpcResponse,
  readRpc,
  rpcFailure,
} from '../protocol/json-rpc.ts';
import type { McpSession, SessionPort } from './mcp-session.ts';
import { Multiplexer } from './multiplexer.ts';
import { NotificationLimiter } from './notification-limiter.ts';

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
    // The official servers leave such a message without an answer.
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
