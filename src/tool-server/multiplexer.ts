import {
  CANCELLED,
  INTERNAL,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
  type RpcResponse,
  readRpc,
  rpcFailure,
} from '../protocol/json-rpc.ts';
import { messageOf } from '../protocol/sdk-error.ts';
import { ServerQuestions, type SessionUser } from './server-questions.ts';
import type { Transport } from './transport.ts';

/** A request of a user at the server. The shared `initialize` has no user: nobody's leaving takes it back. */
type Call = {
  user: SessionUser | undefined;
  server: string;
  id: RpcId;
  token: unknown;
  settle: (response: RpcResponse) => void;
};

/** One life of the server, from its connecting to its closing. */
type Connection = {
  readonly transport: Transport;
  /** What kept it from starting, if anything did. */
  readonly fault: Promise<string | undefined>;
  initialized: Promise<RpcResponse> | undefined;
  isAnnounced: boolean;
  isOver: boolean;
};

/** Many users, one session: ids and progress tokens are rewritten on the way in and restored on the way out. */
export class Multiplexer {
  readonly #connectServer: (transport: Transport) => Promise<void>;
  readonly #users = new Set<SessionUser>();
  /** Users' requests, by the id the server knows them by. */
  readonly #calls = new Map<number, Call>();
  readonly #questions = new ServerQuestions();
  #connection: Connection | undefined;
  #nextId = 0;

  constructor(connectServer: (transport: Transport) => Promise<void>) {
    this.#connectServer = connectServer;
  }

  attach(user: SessionUser): void {
    this.#forgetEnded();
    this.#users.add(user);
  }

  /** The last one to leave ends the connection: the instance is its owner's again. */
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
    // The server learns once that its session has begun.
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
      // Servers call the handler they find here before their own.
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

  /** The server is told to stop, the caller is answered now; what the server still says of it is dropped. */
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
      this.#tell(read.method, read.params);
    } else if (read.kind === 'request') {
      this.#ask(message as RpcRequest, related);
    }
  }

  /** Progress goes to the one whose call it is, a question taken back to the one who was asked, everything else to all. */
  #tell(method: string, params: Record<string, unknown>): void {
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
    else this.#toServer(rpcFailure(request.id, INTERNAL, 'nobody is connected'));
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

/** The official servers' messages have no `params` where there is nothing in them. */
function withParams<Message extends RpcMessage>(
  message: Message,
  params: Record<string, unknown> | undefined,
): Message {
  return params && Object.keys(params).length > 0 ? { ...message, params } : message;
}
