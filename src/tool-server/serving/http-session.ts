import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  INTERNAL,
  INVALID_REQUEST,
  type IncomingRpc,
  type RpcId,
  type RpcMessage,
  type RpcResponse,
  readRpc,
  rpcFailure,
} from '../../protocol/json-rpc.ts';
import { MCP_VERSIONS, STATELESS_VERSION } from '../../protocol/mcp.ts';
import { type CallerAuth, callerKey } from '../context.ts';
import type { McpSession, RpcAnswer, SessionPort } from '../session.ts';
import {
  type Exchange,
  guard,
  internalError,
  KEEP_ALIVE_MS,
  STREAM_AFTER_MS,
  sendEmpty,
  sendFailure,
  sendInternalError,
  sendText,
  serialize,
  startEvents,
  writeEvent,
  writeKeepAlive,
} from './http-exchange.ts';

/** How long a client waits before it resumes a stream. */
const RETRY_MS = 1_000;
const MAX_KEPT_EVENTS = 256;
const MAX_KEPT_CHARS = 1024 * 1024;
/** The revision from which clients accept an event without data. */
const PRIMING_SINCE = '2025-11-25';

export type SessionLimits = { readonly maxSessions: number; readonly sessionIdleMs: number };

/** The sessions of clients of MCP 2025-11-25 and earlier: created by `initialize`, found by the header `Mcp-Session-Id`. */
export class HttpSessions {
  readonly #open: (port: SessionPort) => McpSession;
  readonly #server: string;
  readonly #limits: SessionLimits;
  readonly #sessions = new Map<string, HttpSession>();

  constructor(open: (port: SessionPort) => McpSession, server: string, limits: SessionLimits) {
    this.#open = open;
    this.#server = server;
    this.#limits = limits;
  }

  post(message: unknown, exchange: Exchange): void {
    const session = this.#find(exchange);
    if (session) {
      if (!refuseVersion(exchange)) session.post(message, exchange);
      return;
    }
    const read = readRpc(message);
    const isInitialize = read.kind === 'request' && read.method === 'initialize';
    if (exchange.request.headers['mcp-session-id'] !== undefined) {
      this.#refuse(exchange);
    } else if (read.kind === 'malformed') {
      refuseMalformed(exchange.response, read);
    } else if (!isInitialize) {
      this.#refuse(exchange);
    } else if (!this.#makeRoom(callerKey(exchange.auth))) {
      const error = {
        code: -32000,
        message: `the server has reached its limit of ${this.#limits.maxSessions} sessions, and none of them is idle; try again later`,
      };
      sendFailure(exchange.response, 503, error, { id: read.id, headers: { 'retry-after': '10' } });
    } else {
      const created = new HttpSession(this.#open, this.#server, callerKey(exchange.auth));
      this.#sessions.set(created.id, created);
      created.post(message, exchange);
    }
  }

  /** Opens the stream for messages that belong to no call, or resumes a stream after `Last-Event-ID`. */
  get(exchange: Exchange): void {
    const session = this.#find(exchange);
    if (!session) this.#refuse(exchange);
    else if (!exchange.canStream)
      sendFailure(exchange.response, 406, {
        code: -32000,
        message: 'the client must accept text/event-stream',
      });
    else if (!refuseVersion(exchange)) session.listen(exchange);
  }

  delete(exchange: Exchange): void {
    const session = this.#find(exchange);
    if (!session) {
      this.#refuse(exchange);
      return;
    }
    if (refuseVersion(exchange)) return;
    this.#remove(session);
    sendEmpty(exchange.response, 204);
  }

  /** Called every second: closes idle sessions and keeps streams open. */
  tick(now: number): void {
    for (const session of this.#sessions.values()) {
      session.tick(now);
      if (session.isIdle && now - session.lastUsed > this.#limits.sessionIdleMs) this.#remove(session);
    }
  }

  close(): void {
    for (const session of [...this.#sessions.values()]) this.#remove(session);
  }

  /** A session of another caller is treated like an unknown one. */
  #find({ request, auth }: Exchange): HttpSession | undefined {
    const id = request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? this.#sessions.get(id) : undefined;
    return session?.owner === callerKey(auth) ? session : undefined;
  }

  #refuse({ request, response }: Exchange): void {
    if (request.headers['mcp-session-id'] !== undefined) {
      sendFailure(response, 404, { code: -32001, message: 'Session not found: send initialize again' });
    } else if (request.method === 'POST') {
      const message = 'the header Mcp-Session-Id is missing: send initialize first';
      sendFailure(response, 400, { code: INVALID_REQUEST, message });
    } else {
      const error = { code: -32000, message: `${request.method} requires the header Mcp-Session-Id` };
      sendFailure(response, 405, error, { headers: { allow: 'POST' } });
    }
  }

  /**
   * If there are too many sessions, closes the one that has been idle for longest of the caller with the most, so that
   * no caller can close those of others by opening many. With equal numbers, it closes a session of the new caller.
   */
  #makeRoom(caller: string | undefined): boolean {
    if (this.#sessions.size < this.#limits.maxSessions) return true;
    const owned = Map.groupBy(this.#sessions.values(), ({ owner }) => owner);
    const rank = (owner: string | undefined) =>
      (owned.get(owner)?.length ?? 0) + (owner === caller ? 0.5 : 0);
    const owners = [...owned.keys()].toSorted((a, b) => rank(b) - rank(a));
    for (const owner of owners) {
      const idle = owned.get(owner)?.filter(({ isIdle }) => isIdle) ?? [];
      const [oldest] = idle.toSorted((a, b) => a.lastUsed - b.lastUsed);
      if (oldest) this.#remove(oldest);
      if (oldest || owner === caller) return oldest !== undefined;
    }
    return false;
  }

  #remove(session: HttpSession): void {
    this.#sessions.delete(session.id);
    session.close();
  }
}

/** Refuses a request of a session whose header names an unknown revision. Returns whether it did. */
function refuseVersion({ request, response }: Exchange): boolean {
  const version = request.headers['mcp-protocol-version'];
  const supported: readonly unknown[] = [STATELESS_VERSION, ...MCP_VERSIONS];
  if (version === undefined || supported.includes(version)) return false;
  const message = `the header MCP-Protocol-Version has the unsupported value ${JSON.stringify(version)} (supported: ${supported.join(', ')})`;
  sendFailure(response, 400, { code: -32000, message });
  return true;
}

function refuseMalformed(response: ServerResponse, { id, reason }: MalformedRpc): void {
  sendFailure(response, 400, { code: INVALID_REQUEST, message: reason }, { id });
}

type MalformedRpc = Extract<IncomingRpc, { kind: 'malformed' }>;

/** One event of a stream, kept so that the client can resume the stream. */
type KeptEvent = { readonly stream: number; readonly n: number; readonly data: string };

/** One session: calls run concurrently, each answered by JSON, or by a stream if something precedes its result. */
class HttpSession {
  readonly id = randomUUID();
  readonly owner: string | undefined;
  lastUsed = Date.now();
  readonly #session: McpSession;
  readonly #port: SessionPort & { auth: CallerAuth | undefined };
  readonly #calls = new Set<ReplyStream>();
  /** Streams that have started, by number; 0 is the stream without a call. */
  readonly #streams = new Map<number, ReplyStream>();
  readonly #common: ReplyStream;
  readonly #kept: KeptEvent[] = [];
  #keptChars = 0;
  #nextStream = 1;
  #hasPriming = false;

  constructor(open: (port: SessionPort) => McpSession, server: string, owner: string | undefined) {
    this.owner = owner;
    this.#common = this.#stream(0, undefined, {});
    this.#streams.set(0, this.#common);
    this.#port = {
      server,
      assigns: {},
      auth: undefined,
      send: (message, options) => this.#route(message, options),
    };
    this.#session = open(this.#port);
  }

  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#common.response === undefined;
  }

  post(message: unknown, { request, response, canStream, auth }: Exchange): void {
    this.lastUsed = Date.now();
    const read = readRpc(message);
    this.#port.auth = auth;
    if (read.kind === 'malformed') {
      refuseMalformed(response, read);
      return;
    }
    if (read.kind !== 'request') {
      guard(() => this.#session.receive(message));
      sendEmpty(response, 202);
      return;
    }
    const isInitialize = read.method === 'initialize';
    const meta = read.params._meta as { progressToken?: unknown } | undefined;
    const stream = this.#stream(this.#nextStream++, canStream ? response : undefined, {
      token: meta?.progressToken,
      requestId: read.id,
    });
    this.#calls.add(stream);
    const answer = (answered: RpcAnswer) => {
      this.#calls.delete(stream);
      this.lastUsed = Date.now();
      if (isInitialize) this.#initialized(answered);
      const text = serialize(answered as RpcResponse);
      if (stream.isStarted) stream.end(text);
      else sendText(response, 200, text, isInitialize ? { 'mcp-session-id': this.id } : undefined);
    };
    const fail = (thrown: unknown) => {
      this.#calls.delete(stream);
      if (stream.isStarted) stream.end(serialize(rpcFailure(read.id, INTERNAL, internalError(thrown))));
      else sendInternalError(response, thrown, read.id);
    };
    const session = this.#session;
    guard(() => (session.take ? session.take(message, answer) : session.receive(message).then(answer)), fail);
    // A client that disconnects has not cancelled the call: it may resume the stream.
    request.on('error', () => {});
  }

  listen({ request, response, expiresAt }: Exchange): void {
    this.lastUsed = Date.now();
    const last = request.headers['last-event-id'];
    const [, index, after] = /^(\d+)-(\d+)$/.exec(typeof last === 'string' ? last : '') ?? [];
    const stream = index === undefined ? this.#common : this.#streams.get(Number(index));
    if (!stream) {
      sendFailure(response, 404, { code: -32000, message: 'the stream that Last-Event-ID names is unknown' });
      return;
    }
    startEvents(response, { 'mcp-session-id': this.id });
    if (index !== undefined) {
      for (const { stream: of, n, data } of this.#kept) {
        if (of === stream.index && n > Number(after)) void writeEvent(response, data, `${of}-${n}`);
      }
    }
    stream.attach(response, expiresAt);
    // A resumed stream has received these messages already.
    const unsent = stream.takeUnsent();
    if (index === undefined)
      for (const { n, data } of unsent) void writeEvent(response, data, `${stream.index}-${n}`);
  }

  tick(now: number): void {
    for (const call of this.#calls) {
      if (!call.isStarted && now - call.startedAt > STREAM_AFTER_MS) call.start();
    }
    for (const stream of this.#streams.values()) stream.tick(now);
  }

  close(): void {
    guard(() => this.#session.close());
    for (const stream of this.#streams.values()) stream.response?.end();
  }

  /**
   * Progress and requests go to the stream of their call; a change of a list, and everything while no call runs, to the
   * common stream.
   */
  #route(message: RpcMessage, { relatedRequestId }: RouteOptions = {}): Promise<void> | undefined {
    const params = 'params' in message ? message.params : undefined;
    const method = 'method' in message ? message.method : '';
    const isCommon = method.endsWith('/list_changed') || method === 'notifications/resources/updated';
    const token = method === 'notifications/progress' ? params?.progressToken : undefined;
    const calls = isCommon ? [] : [...this.#calls].filter((call) => call.canStream);
    const isRelated = ({ of }: ReplyStream) =>
      token === undefined ? of.requestId === relatedRequestId : of.token === token;
    const stream = calls.find(isRelated) ?? calls.at(-1) ?? this.#common;
    if (stream === this.#common && !stream.response && 'method' in message && 'id' in message) {
      const refusal = 'the client has no stream that could carry the request';
      guard(() => this.#session.receive(rpcFailure(message.id, INTERNAL, refusal)));
      return undefined;
    }
    return stream.send(serialize(message));
  }

  #initialized(answered: RpcAnswer): void {
    const version = answered && 'result' in answered ? answered.result.protocolVersion : undefined;
    this.#hasPriming = typeof version === 'string' && version >= PRIMING_SINCE;
  }

  #stream(index: number, response: ServerResponse | undefined, of: StreamOf): ReplyStream {
    return new ReplyStream(index, response, of, {
      onStart: (stream) => {
        this.#streams.set(stream.index, stream);
        return this.#hasPriming ? `retry: ${RETRY_MS}\nid: ${stream.index}-0\ndata: \n\n` : undefined;
      },
      keep: (event) => this.#keep(event),
      headers: () => ({ 'mcp-session-id': this.id }),
    });
  }

  #keep(event: KeptEvent): void {
    this.#kept.push(event);
    this.#keptChars += event.data.length;
    while (
      this.#kept.length > MAX_KEPT_EVENTS ||
      (this.#keptChars > MAX_KEPT_CHARS && this.#kept.length > 1)
    ) {
      const { stream, data } = this.#kept.shift() as KeptEvent;
      this.#keptChars -= data.length;
      const left = this.#streams.get(stream);
      if (left?.isOver && !this.#kept.some((kept) => kept.stream === stream)) this.#streams.delete(stream);
    }
  }
}

type RouteOptions = { relatedRequestId?: RpcId | undefined };

/** The call of a stream. */
type StreamOf = { readonly token?: unknown; readonly requestId?: RpcId };

type UnsentMessage = { readonly n: number; readonly data: string };

type StreamOwner = {
  /** Returns the first event of the stream, if it has one. */
  onStart(stream: ReplyStream): string | undefined;
  keep(event: KeptEvent): void;
  headers(): object;
};

/** The messages for one call, or those for no call. A stream outlives the HTTP response that carries it. */
class ReplyStream {
  readonly index: number;
  readonly of: StreamOf;
  readonly startedAt = Date.now();
  readonly canStream: boolean;
  response: ServerResponse | undefined;
  isStarted = false;
  isOver = false;
  readonly #owner: StreamOwner;
  #sent = 0;
  #writtenAt = 0;
  /** Messages of the stream without a call that no response could carry. */
  readonly #unsent: UnsentMessage[] = [];
  #unsentChars = 0;
  /** When the current response ends. */
  #expiresAt = Number.POSITIVE_INFINITY;

  constructor(index: number, response: ServerResponse | undefined, of: StreamOf, owner: StreamOwner) {
    this.index = index;
    this.response = response;
    this.canStream = response !== undefined;
    this.of = of;
    this.#owner = owner;
  }

  start(): void {
    const { response } = this;
    if (!response || response.destroyed || this.isStarted) return;
    this.isStarted = true;
    startEvents(response, this.#owner.headers());
    const priming = this.#owner.onStart(this);
    if (priming !== undefined) response.write(priming);
    this.attach(response);
  }

  /** Continues the stream on another response until `expiresAt`; the stream ends if its last message was sent. */
  attach(response: ServerResponse, expiresAt = Number.POSITIVE_INFINITY): void {
    if (this.response !== response) this.response?.end();
    this.#expiresAt = expiresAt;
    this.isStarted = true;
    if (this.isOver) {
      response.end();
      return;
    }
    this.response = response;
    this.#writtenAt = Date.now();
    response.on('close', () => {
      if (this.response === response) this.response = undefined;
    });
  }

  send(data: string): Promise<void> | undefined {
    if (!this.isStarted && this.index > 0) this.start();
    const n = ++this.#sent;
    if (this.isStarted) this.#owner.keep({ stream: this.index, n, data });
    this.#writtenAt = Date.now();
    if (this.response && this.isStarted) return writeEvent(this.response, data, `${this.index}-${n}`);
    if (this.index === 0) this.#keepUnsent({ n, data });
    return undefined;
  }

  #keepUnsent(message: UnsentMessage): void {
    const isFull = this.#unsent.length >= MAX_KEPT_EVENTS;
    if (isFull || this.#unsentChars + message.data.length > MAX_KEPT_CHARS) return;
    this.#unsent.push(message);
    this.#unsentChars += message.data.length;
  }

  /** The messages that wait for a response. */
  takeUnsent(): readonly UnsentMessage[] {
    this.#unsentChars = 0;
    return this.#unsent.splice(0);
  }

  end(data: string): void {
    this.isOver = true;
    void this.send(data);
    this.response?.end();
    this.response = undefined;
  }

  /** Ends the response if the token that opened it has expired, so that the client opens another one; else keeps it open. */
  tick(now: number): void {
    if (now >= this.#expiresAt) {
      this.response?.end();
      this.response = undefined;
    }
    if (!this.response || !this.isStarted || now - this.#writtenAt < KEEP_ALIVE_MS) return;
    this.#writtenAt = now;
    writeKeepAlive(this.response);
  }
}
