import { isRecord } from '../../base/json-value.ts';
import {
  INTERNAL,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type RpcMessage,
  type RpcRequest,
  type RpcResponse,
  readRpc,
  rpcFailure,
} from '../../protocol/json-rpc.ts';
import { CHANNEL, LOG_LEVELS, type LogLevel, MCP_VERSIONS, STATELESS_VERSION } from '../../protocol/mcp.ts';
import type { McpSession, RpcAnswer, SessionPort } from '../session.ts';
import type { CompiledTool } from '../tool.ts';
import { MISSING_CAPABILITY, type RequestStateSeal } from './client-requests.ts';
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
import {
  CLIENT_CAPABILITIES,
  CLIENT_INFO,
  LOG_LEVEL,
  requestFault,
  SERVER_INFO,
  SUBSCRIPTION_ID,
} from './stateless-request.ts';

/** Methods of earlier revisions that this one has removed. */
const REMOVED = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);
/** Methods whose results say for how long they may be cached. */
const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);
/** HTTP statuses of error codes; others are sent with 200. */
const STATUSES: Readonly<Record<number, number>> = { [METHOD_NOT_FOUND]: 404, [MISSING_CAPABILITY]: 400 };

/** The server behind an endpoint. */
export type ServedServer = {
  readonly name: string;
  open(port: SessionPort): McpSession;
  /** A tool of a tool server; undefined for tools of other servers. */
  find(name: string): CompiledTool | undefined;
  /** Whether a session answers requests only after `initialize`. */
  readonly needsHandshake: boolean;
};

/** MCP 2026-07-28: every request stands alone and has a session of its own in the server. */
export class StatelessEndpoint {
  readonly #server: ServedServer;
  readonly #calls = new Set<StatelessCall>();
  /** Keeps the one connection of a shared `McpServer` open between requests. */
  #anchor: McpSession | undefined;
  /** The handshake of the anchor, for which concurrent requests wait. */
  #preparing: Promise<void> | undefined;
  #serverInfo: unknown;
  readonly #requestStateSeal: RequestStateSeal;

  constructor(server: ServedServer, requestStateSeal: RequestStateSeal) {
    this.#server = server;
    this.#requestStateSeal = requestStateSeal;
  }

  post(message: unknown, exchange: Exchange): void {
    const { request, response } = exchange;
    const read = readRpc(message);
    if (read.kind === 'malformed') {
      sendFailure(response, 400, { code: INVALID_REQUEST, message: read.reason }, { id: read.id });
      return;
    }
    if (read.kind !== 'request') {
      if (read.kind === 'notification') this.#receiveNotification(message, exchange);
      sendEmpty(response, 202);
      return;
    }
    const { id, method, params } = read;
    const refused = requestFault(method, params, request.headers, this.#server);
    if (refused) {
      sendFailure(response, 400, refused, { id });
    } else if (REMOVED.has(method)) {
      sendFailure(response, 404, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }, { id });
    } else {
      const call = new StatelessCall(this.#server, { jsonrpc: '2.0', id, method, params }, exchange, {
        requestStateSeal: this.#requestStateSeal,
        complete: (result) => this.#complete(method, result),
        onEnd: () => this.#calls.delete(call),
      });
      this.#calls.add(call);
      const needsAnchor = this.#server.needsHandshake || this.#serverInfo === undefined;
      guard(
        () => (needsAnchor ? this.#startPrepared(call) : call.start()),
        (thrown) => call.fail(thrown),
      );
    }
  }

  /** Notifications about channels concern the server as a whole; the session only passes them on. */
  #receiveNotification(message: unknown, { auth }: Exchange): void {
    if (this.#server.needsHandshake) return;
    guard(async () => {
      const port = {
        server: this.#server.name,
        assigns: {},
        auth,
        acceptsPush: false,
        send: () => undefined,
      };
      const session = this.#server.open(port);
      await session.receive(message);
      session.close();
    });
  }

  /** Called every second: turns long calls into streams and keeps streams open. */
  tick(now: number): void {
    for (const call of this.#calls) call.tick(now);
  }

  close(): void {
    for (const call of [...this.#calls]) call.close();
    this.#dropAnchor();
  }

  async #startPrepared(call: StatelessCall): Promise<void> {
    if (!this.#anchor || this.#preparing !== undefined) {
      this.#preparing ??= this.#prepare().finally(() => {
        this.#preparing = undefined;
      });
      await this.#preparing;
    }
    call.start();
  }

  /** Opens the anchor. An anchor whose handshake failed is dropped, so that the next request opens another one. */
  async #prepare(): Promise<void> {
    let isKept = false;
    try {
      const { name } = this.#server;
      this.#anchor = this.#server.open({
        server: name,
        assigns: {},
        acceptsPush: false,
        send: () => undefined,
      });
      const { serverInfo } = await handshake(this.#anchor, {});
      this.#serverInfo = serverInfo ?? { name, version: '1.0.0' };
      isKept = this.#server.needsHandshake && serverInfo !== undefined;
    } finally {
      if (!isKept) this.#dropAnchor();
    }
  }

  #dropAnchor(): void {
    const anchor = this.#anchor;
    this.#anchor = undefined;
    guard(() => anchor?.close());
  }

  #complete(method: string, result: Record<string, unknown>): Record<string, unknown> {
    return {
      resultType: 'complete',
      ...(CACHEABLE.has(method) && { ttlMs: 0, cacheScope: 'private' }),
      ...result,
      _meta: { ...(result._meta as object | undefined), [SERVER_INFO]: this.#serverInfo },
    };
  }
}

type CallOwner = {
  readonly requestStateSeal: RequestStateSeal;
  complete(result: Record<string, unknown>): Record<string, unknown>;
  onEnd(): void;
};

/** One request: its response is JSON, or a stream if notifications precede the result or the call takes long. */
class StatelessCall {
  readonly #server: ServedServer;
  readonly #request: RpcRequest;
  readonly #exchange: Exchange;
  readonly #owner: CallOwner;
  readonly #meta: Record<string, unknown>;
  readonly #startedAt = Date.now();
  #session: McpSession | undefined;
  #isStream = false;
  #isOver = false;
  #writtenAt = 0;
  /** The notifications of a `subscriptions/listen` request. */
  #filter: Filter | undefined;

  constructor(server: ServedServer, request: RpcRequest, exchange: Exchange, owner: CallOwner) {
    this.#server = server;
    this.#request = request;
    this.#exchange = exchange;
    this.#owner = owner;
    this.#meta = request.params?._meta as Record<string, unknown>;
    // In this revision a client cancels a request by closing its response.
    exchange.response.on('close', () => this.#end());
  }

  start(): void {
    if (this.#isOver) return;
    const { auth } = this.#exchange;
    const session = this.#server.open({
      server: this.#server.name,
      assigns: {},
      auth,
      clientCapabilities: this.#meta[CLIENT_CAPABILITIES] as Record<string, unknown>,
      requestStateSeal: this.#owner.requestStateSeal,
      acceptsPush: this.#request.method === 'subscriptions/listen',
      send: (message) => this.#receive(message),
    });
    this.#session = session;
    const { method } = this.#request;
    if (this.#server.needsHandshake || method === 'server/discover' || method === 'subscriptions/listen') {
      guard(
        () => this.#startInitialized(session),
        (thrown) => this.fail(thrown),
      );
    } else this.#send(session);
  }

  /** Answers the request with an internal error: the server cannot be opened, or has failed. */
  fail(thrown: unknown): void {
    if (this.#isOver) return;
    const { id } = this.#request;
    if (this.#isStream) {
      this.#answer(rpcFailure(id, INTERNAL, internalError(thrown)));
    } else {
      sendInternalError(this.#exchange.response, thrown, id);
      this.#end();
    }
  }

  tick(now: number): void {
    if (this.#filter && now >= this.#exchange.expiresAt) {
      this.close();
      return;
    }
    const isLate = !this.#isStream && now - this.#startedAt > STREAM_AFTER_MS;
    if (isLate && this.#exchange.canStream) this.#startStream();
    if (this.#isStream && now - this.#writtenAt > KEEP_ALIVE_MS) {
      this.#writtenAt = now;
      writeKeepAlive(this.#exchange.response);
    }
  }

  close(): void {
    if (this.#filter) this.#answer({ jsonrpc: '2.0', id: this.#request.id, result: this.#tagged({}) });
    else this.#closeSession();
    this.#end();
  }

  async #startInitialized(session: McpSession): Promise<void> {
    const capabilities = this.#meta[CLIENT_CAPABILITIES];
    const info = await handshake(session, { capabilities, clientInfo: this.#meta[CLIENT_INFO] });
    if (this.#isOver) return;
    const { id, method } = this.#request;
    if (method === 'server/discover') {
      const { capabilities: offered = {}, instructions } = info;
      const result = {
        supportedVersions: [STATELESS_VERSION],
        capabilities: offered,
        ...(instructions !== undefined && { instructions }),
      };
      this.#answer({ jsonrpc: '2.0', id, result });
    } else if (method === 'subscriptions/listen') await this.#listen(session, info.capabilities);
    else this.#send(session);
  }

  #send(session: McpSession): void {
    const level = this.#meta[LOG_LEVEL];
    if (LOG_LEVELS.includes(level as LogLevel)) {
      const params = { level };
      guard(() => session.receive({ jsonrpc: '2.0', id: 'level', method: 'logging/setLevel', params }));
    }
    const answer = (answered: RpcAnswer) => this.#answer(answered as RpcResponse);
    guard(
      () =>
        session.take ? session.take(this.#request, answer) : session.receive(this.#request).then(answer),
      (thrown) => this.fail(thrown),
    );
  }

  async #listen(session: McpSession, capabilities: unknown): Promise<void> {
    const { response, canStream } = this.#exchange;
    if (!canStream) {
      const message = 'subscriptions/listen requires a client that accepts text/event-stream';
      this.#answer(rpcFailure(this.#request.id, INVALID_REQUEST, message));
      return;
    }
    this.#filter = honoredFilter(this.#request.params?.notifications, capabilities);
    for (const uri of this.#filter.resourceSubscriptions ?? []) {
      await session.receive({
        jsonrpc: '2.0',
        id: `subscribe ${uri}`,
        method: 'resources/subscribe',
        params: { uri },
      });
    }
    if (this.#isOver) return;
    this.#startStream();
    const params = this.#tagged({ notifications: this.#filter });
    const method = 'notifications/subscriptions/acknowledged';
    void writeEvent(response, serialize({ jsonrpc: '2.0', method, params }));
    if (Object.keys(this.#filter).length === 0) this.close();
  }

  /** A message that the server initiates during the request. */
  #receive(message: RpcMessage): Promise<void> | undefined {
    if (!('method' in message) || this.#isOver) return undefined;
    if ('id' in message) {
      const refusal = 'clients of MCP 2026-07-28 do not accept requests of a server';
      const { id } = message;
      guard(() => this.#session?.receive(rpcFailure(id, METHOD_NOT_FOUND, refusal)));
      return undefined;
    }
    if (this.#filter) {
      if (!isHonored(this.#filter, message)) return undefined;
      const params = this.#tagged({ ...message.params });
      return this.#write(serialize({ ...message, params }));
    }
    const isLog = message.method === 'notifications/message';
    const isWanted = isLog
      ? this.#meta[LOG_LEVEL] !== undefined
      : !message.method.endsWith('/list_changed') && message.method !== 'notifications/resources/updated';
    if (!isWanted || !this.#exchange.canStream) return undefined;
    if (!this.#isStream) this.#startStream();
    return this.#write(serialize(message));
  }

  #answer(answered: RpcResponse): void {
    if (this.#isOver) return;
    const { response } = this.#exchange;
    const reply =
      'result' in answered ? { ...answered, result: this.#owner.complete(answered.result) } : answered;
    const text = serialize(reply);
    if (this.#isStream) {
      void this.#write(text);
      response.end();
    } else {
      sendText(response, 'error' in answered ? (STATUSES[answered.error.code] ?? 200) : 200, text);
    }
    this.#end();
  }

  #tagged(params: Record<string, unknown>): Record<string, unknown> {
    const meta = { ...(params._meta as object | undefined), [SUBSCRIPTION_ID]: this.#request.id };
    return { ...params, _meta: meta };
  }

  #startStream(): void {
    this.#isStream = true;
    this.#writtenAt = Date.now();
    startEvents(this.#exchange.response);
  }

  #write(text: string): Promise<void> | undefined {
    this.#writtenAt = Date.now();
    return writeEvent(this.#exchange.response, text);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#closeSession();
    this.#owner.onEnd();
  }

  #closeSession(): void {
    guard(() => this.#session?.close());
  }
}

type Handshake = { capabilities?: unknown; serverInfo?: unknown; instructions?: unknown };

/** Initializes a session; the result is empty if the server refuses. */
async function handshake(
  session: McpSession,
  client: { capabilities?: unknown; clientInfo?: unknown },
): Promise<Handshake> {
  const params = {
    protocolVersion: MCP_VERSIONS[0],
    capabilities: client.capabilities ?? {},
    clientInfo: client.clientInfo ?? { name: 'unknown', version: '0' },
  };
  const answered = await session.receive({ jsonrpc: '2.0', id: 'initialize', method: 'initialize', params });
  await session.receive({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return answered && 'result' in answered ? answered.result : {};
}

type Filter = {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  resourceSubscriptions?: string[];
  /** Messages and permission answers of a channel. */
  [CHANNEL.capability]?: true;
};

const LISTS = ['tools', 'prompts', 'resources'] as const;

/** The part of a requested filter that the server can deliver. */
function honoredFilter(requested: unknown, capabilities: unknown): Filter {
  const wanted = isRecord(requested) ? requested : {};
  const offered = (isRecord(capabilities) ? capabilities : {}) as Record<string, Record<string, unknown>>;
  const filter: Filter = {};
  for (const list of LISTS) {
    if (wanted[`${list}ListChanged`] === true && offered[list]?.listChanged === true)
      filter[`${list}ListChanged`] = true;
  }
  const uris = wanted.resourceSubscriptions;
  if (Array.isArray(uris) && uris.length > 0 && offered.resources?.subscribe === true) {
    filter.resourceSubscriptions = uris.filter((uri) => typeof uri === 'string');
  }
  const { experimental } = offered;
  if (wanted[CHANNEL.capability] === true && experimental?.[CHANNEL.capability] !== undefined)
    filter[CHANNEL.capability] = true;
  return filter;
}

function isHonored(filter: Filter, { method, params }: { method: string; params?: object }): boolean {
  if (method === CHANNEL.message || method === CHANNEL.permission) return filter[CHANNEL.capability] === true;
  if (method === 'notifications/resources/updated') {
    const { uri } = (params ?? {}) as { uri?: string };
    return uri !== undefined && filter.resourceSubscriptions?.includes(uri) === true;
  }
  const list = LISTS.find((it) => method === `notifications/${it}/list_changed`);
  return list !== undefined && filter[`${list}ListChanged`] === true;
}
