import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isNestedDeeper, MAX_NESTING } from '../../base/json-value.ts';
import {
  countFrom,
  nonEmptyString,
  optionFault,
  positiveNumber,
  record,
  stringList,
} from '../../base/option-check.ts';
import { INVALID_REQUEST, PARSE_FAILED, type RpcId, readRpc } from '../../protocol/json-rpc.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import type { CallerAuth } from '../context.ts';
import { RequestStateSeal } from './client-requests.ts';
import {
  type Exchange,
  guard,
  readBody,
  sendEmpty,
  sendFailure,
  sendInternalError,
  sendJson,
} from './http-exchange.ts';
import { HttpSessions } from './http-session.ts';
import {
  type Denial,
  METADATA_PATH,
  ResourceServer,
  type ResourceServerOptions,
  resourceServerFault,
} from './resource-server.ts';
import { type ServedServer, StatelessEndpoint } from './stateless-endpoint.ts';
import { isStateless } from './stateless-request.ts';

/** Options of `listen()`. */
export type ListenOptions = {
  /** Address to listen on; default `127.0.0.1`. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  /** Path of the endpoint; default `/mcp`. */
  path?: string;
  /** Host names, in addition to loopback ones, that requests may address, for example `tools.example.com`. */
  allowedHosts?: readonly string[];
  /** Origins, in addition to loopback ones, from which browsers may send requests, for example `https://app.example.com`. */
  allowedOrigins?: readonly string[];
  /** Maximum size of a request in bytes; default 4 MiB. */
  maxBodyBytes?: number;
  /**
   * Maximum number of sessions of MCP 2025-11-25 and earlier; default 1000. At the limit, the longest-idle session of the
   * caller with the most sessions is closed for a new one; if none can be closed, the request gets 503.
   */
  maxSessions?: number;
  /** Time after which an unused session is closed; default 30 minutes. */
  sessionIdleMs?: number;
  /**
   * Secret that encrypts the state of calls that wait for input of a client of MCP 2026-07-28, at least 32 characters.
   * Set the same one in all processes behind a load balancer. Default: a random one.
   */
  requestStateKey?: string;
  /** Requires an access token for every request. */
  auth?: ResourceServerOptions;
  /** Closes the server when it aborts. */
  signal?: AbortSignal;
};

/** A tool server that listens for HTTP requests. */
export type HttpToolServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** Ends sessions and streams, answers running calls with an error and stops listening. */
  close(): Promise<void>;
};

const OPTIONS = {
  host: nonEmptyString,
  port: countFrom(0),
  path: { what: 'a path that starts with "/"', holds: (value: unknown) => String(value).startsWith('/') },
  allowedHosts: stringList,
  allowedOrigins: stringList,
  maxBodyBytes: countFrom(1),
  maxSessions: countFrom(1),
  sessionIdleMs: positiveNumber,
  requestStateKey: {
    what: 'a string of at least 32 characters',
    holds: (value: unknown) => typeof value === 'string' && value.length >= 32,
  },
  auth: record,
  signal: { what: 'an AbortSignal', holds: (value: unknown) => value instanceof AbortSignal },
};

/** Serves MCP over streamable HTTP: sessions (2025-11-25 and earlier) and stateless requests (2026-07-28). */
export async function listenHttp(server: ServedServer, options: ListenOptions = {}): Promise<HttpToolServer> {
  const { auth } = options;
  const fault = optionFault(options, OPTIONS) ?? (auth && resourceServerFault(auth));
  if (fault) throw new SdkError('bad-option', `listen(): ${fault}`);
  const { host = '127.0.0.1', port = 0, signal, sessionIdleMs = 30 * 60_000, maxSessions = 1000 } = options;
  signal?.throwIfAborted();
  const sessions = new HttpSessions((it) => server.open(it), server.name, { maxSessions, sessionIdleMs });
  const stateless = new StatelessEndpoint(server, new RequestStateSeal(options.requestStateKey));
  const resourceServer = auth && new ResourceServer(auth);
  const handler = requestHandler({ sessions, stateless, resourceServer, options });
  // The long keep-alive keeps clients from reusing a connection while the server closes it.
  const http = createServer({ keepAliveTimeout: 75_000, requestTimeout: 60_000 }, handler);
  await startListening(http, host, port);
  const ticks = setInterval(() => {
    const now = Date.now();
    sessions.tick(now);
    stateless.tick(now);
  }, 1000);
  ticks.unref();
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= new Promise((resolve) => {
      clearInterval(ticks);
      signal?.removeEventListener('abort', close);
      http.close(() => resolve());
      sessions.close();
      stateless.close();
      resourceServer?.close();
      http.closeIdleConnections();
      setTimeout(() => http.closeAllConnections(), 1000).unref();
    });
    return closed;
  };
  signal?.addEventListener('abort', close, { once: true });
  const address = http.address() as AddressInfo;
  const authority = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${authority}:${address.port}${options.path ?? '/mcp'}`;
  resourceServer?.start(url);
  return {
    url,
    port: address.port,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function startListening(http: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (cause) => {
      const detail = `cannot listen on ${host}:${port}: ${messageOf(cause)}`;
      reject(new SdkError('serve-failed', detail, { cause }));
    });
    http.listen(port, host, () => {
      http.removeAllListeners('error');
      http.on('error', () => {});
      resolve();
    });
  });
}

type HandlerDeps = {
  readonly sessions: HttpSessions;
  readonly stateless: StatelessEndpoint;
  readonly resourceServer: ResourceServer | undefined;
  readonly options: ListenOptions;
};

/** The handler of all requests: checks the addresses and the access token, reads the body and passes the message on. */
function requestHandler({ sessions, stateless, resourceServer, options }: HandlerDeps) {
  const { path = '/mcp', maxBodyBytes = 4 * 1024 * 1024 } = options;
  const isAllowed = addressCheck(options);
  const expiryOf = (auth: CallerAuth | undefined) =>
    (auth && resourceServer?.expiryOf(auth)) ?? Number.POSITIVE_INFINITY;

  const post = (request: IncomingMessage, response: ServerResponse, auth: CallerAuth | undefined) => {
    const type = request.headers['content-type'] ?? '';
    const accept = request.headers.accept ?? '*/*';
    if (!/^application\/json\s*(;|$)/i.test(type)) {
      refuse(response, 415, 'the Content-Type must be application/json');
      return;
    }
    const canStream = acceptsType(accept, 'text/event-stream');
    if (!acceptsType(accept, 'application/json')) {
      refuse(response, 406, 'the client must accept application/json and text/event-stream');
      return;
    }
    readBody(request, maxBodyBytes, (text) => {
      if (text === undefined) {
        const headers = { connection: 'close' };
        const message = `the request is larger than ${maxBodyBytes} bytes`;
        sendFailure(response, 413, { code: INVALID_REQUEST, message }, { headers });
        return;
      }
      let message: unknown;
      try {
        message = JSON.parse(text);
      } catch {
        sendFailure(response, 400, { code: PARSE_FAILED, message: 'the body is not JSON' });
        return;
      }
      if (Array.isArray(message)) {
        refuse(response, 400, 'batches are not supported: send one message per request');
        return;
      }
      // Later code may recurse over the message. Shorter texts cannot be nested that deep.
      if (text.length > 2 * MAX_NESTING && isNestedDeeper(message)) {
        const fault = `the message is nested more than ${MAX_NESTING} levels deep`;
        sendFailure(response, 400, { code: INVALID_REQUEST, message: fault }, { id: idOf(message) });
        return;
      }
      const exchange: Exchange = { request, response, canStream, auth, expiresAt: expiryOf(auth) };
      guard(
        () => dispatch(message, exchange),
        (thrown) => sendInternalError(response, thrown, idOf(message)),
      );
    });
  };

  const dispatch = (message: unknown, exchange: Exchange) => {
    const { request, response, auth } = exchange;
    const denial = auth && resourceServer?.checkScopes(message, auth);
    if (denial) deny(response, denial);
    else if (isStateless(message, request.headers)) stateless.post(message, exchange);
    else sessions.post(message, exchange);
  };

  const deny = (response: ServerResponse, denial: Denial) => {
    const challenge = denial.status !== 503 && resourceServer?.challenge(denial);
    refuse(response, denial.status, denial.message, challenge ? { 'www-authenticate': challenge } : {});
  };

  /** Handles a request of a caller who may use the endpoint. */
  const handle = (request: IncomingMessage, response: ServerResponse, auth: CallerAuth | undefined) => {
    const { method, headers } = request;
    if (method === 'POST') {
      post(request, response, auth);
    } else if (method === 'GET' || method === 'DELETE') {
      const denial = auth && resourceServer?.checkScopes(undefined, auth);
      const canStream = acceptsType(headers.accept ?? '*/*', 'text/event-stream');
      const exchange = { request, response, canStream, auth, expiresAt: expiryOf(auth) };
      if (denial) deny(response, denial);
      else if (method === 'GET') sessions.get(exchange);
      else sessions.delete(exchange);
    } else {
      sendEmpty(response, 405, { allow: 'GET, POST, DELETE' });
    }
  };

  const handleChecked = (
    request: IncomingMessage,
    response: ServerResponse,
    checked: CallerAuth | Denial,
  ) => {
    if ('status' in checked) deny(response, checked);
    else handle(request, response, checked);
  };

  const route = (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined => {
    const { method, headers, url = '' } = request;
    const requested = url.includes('?') ? url.slice(0, url.indexOf('?')) : url;
    if (!isAllowed(request)) {
      refuse(response, 403, 'the Host or Origin of the request is not allowed', { connection: 'close' });
    } else if (resourceServer && method === 'GET' && isMetadataPath(requested, resourceServer, path)) {
      sendJson(response, 200, resourceServer.metadata(), { 'access-control-allow-origin': '*' });
    } else if (requested !== path) {
      refuse(response, 404, `nothing is served here; the endpoint is ${path}`);
    } else if (resourceServer) {
      const checked = resourceServer.check(headers.authorization);
      if (checked instanceof Promise) return checked.then((it) => handleChecked(request, response, it));
      handleChecked(request, response, checked);
    } else {
      handle(request, response, undefined);
    }
    return undefined;
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', () => {});
    guard(
      () => route(request, response),
      (thrown) => sendInternalError(response, thrown),
    );
  };
}

/** The id of the request to which a response belongs. */
function idOf(message: unknown): RpcId | undefined {
  const read = readRpc(message);
  return read.kind === 'request' ? read.id : undefined;
}

/** The metadata is at the root and below it at the path of the endpoint, also if a reverse proxy changes that path. */
function isMetadataPath(requested: string, { resource }: ResourceServer, path: string): boolean {
  if (!requested.startsWith(METADATA_PATH)) return false;
  const rest = requested.slice(METADATA_PATH.length);
  return rest === '' || rest === path || rest === URL.parse(resource)?.pathname;
}

function refuse(response: ServerResponse, status: number, message: string, headers: object = {}): void {
  sendFailure(response, status, { code: INVALID_REQUEST, message }, { headers });
}

/** Whether an `Accept` header allows a media type: its most specific matching range has a weight above 0 (RFC 9110). */
function acceptsType(accept: string, type: string): boolean {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((it) => it.trim());
    const weight = Number(parameters.find((it) => it.startsWith('q='))?.slice(2) ?? 1);
    weights.set(range, Math.max(weight, weights.get(range) ?? 0));
  }
  const [group] = type.split('/');
  return (weights.get(type) ?? weights.get(`${group}/*`) ?? weights.get('*/*') ?? 0) > 0;
}

/**
 * Protects against DNS rebinding: `Host` must be a loopback name, the address that the client connected to, or an allowed
 * name; `Origin`, which browsers send, a loopback or an allowed one.
 */
function addressCheck({ allowedHosts = [], allowedOrigins = [], host }: ListenOptions) {
  const hosts = new Set(
    [...allowedHosts, ...(host === undefined ? [] : [host])].map((it) => it.toLowerCase()),
  );
  const origins = new Set(allowedOrigins.map((it) => it.toLowerCase()));
  return ({ headers, socket }: IncomingMessage): boolean => {
    const named = headers.host?.toLowerCase() ?? '';
    const name = named.replace(/:\d+$/, '');
    const isHost =
      LOOPBACK.has(name) ||
      hosts.has(name) ||
      hosts.has(named) ||
      name.replace(/^\[|\]$/g, '') === socket.localAddress?.replace(/^::ffff:/, '');
    if (!isHost) return false;
    if (headers.origin === undefined) return true;
    const origin = headers.origin.toLowerCase();
    return origins.has(origin) || LOOPBACK.has(origin.replace(/^https?:\/\//, '').replace(/:\d+$/, ''));
  };
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
