import type { IncomingMessage, ServerResponse } from 'node:http';
import { INTERNAL, type RpcId, type RpcMessage, unsendable } from '../../protocol/json-rpc.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { CallerAuth } from '../context.ts';

/** One HTTP request whose body is read and whose sender may use the endpoint. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the client accepts a stream of events as response. */
  readonly canStream: boolean;
  readonly auth: CallerAuth | undefined;
  /** When the access token expires, in milliseconds; infinite without one. */
  readonly expiresAt: number;
};

export function sendJson(response: ServerResponse, status: number, document: object, headers?: object): void {
  sendText(response, status, JSON.stringify(document), headers);
}

/** Sends JSON text as the whole response. */
export function sendText(response: ServerResponse, status: number, text: string, headers?: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Sends a JSON-RPC error; `id` is null if the request that it answers is unknown. */
export function sendFailure(
  response: ServerResponse,
  status: number,
  error: { code: number; message: string; data?: unknown },
  options: { id?: RpcId | undefined; headers?: object } = {},
): void {
  sendJson(response, status, { jsonrpc: '2.0', id: options.id ?? null, error }, options.headers);
}

/** Answers a request whose handling failed. A response that has started can only be ended. */
export function sendInternalError(response: ServerResponse, thrown: unknown, id?: RpcId): void {
  if (response.headersSent) response.end();
  else sendFailure(response, 500, { code: INTERNAL, message: internalError(thrown) }, { id });
}

export function internalError(thrown: unknown): string {
  return `Internal error: ${messageOf(thrown)}`;
}

/** Runs a part of the handling of a request. Its exceptions and rejections go to `onFailure`, so that none ends the process. */
export function guard(run: () => unknown, onFailure: (thrown: unknown) => void = () => {}): void {
  try {
    const running = run();
    if (running instanceof Promise) running.catch(onFailure);
  } catch (thrown) {
    onFailure(thrown);
  }
}

export function sendEmpty(response: ServerResponse, status: number, headers: object = {}): void {
  response.writeHead(status, { 'content-length': 0, ...headers });
  response.end();
}

/** Reads the body as text. `onBody` gets undefined if the body is longer than `maxBytes`; it is not called if the client disconnects. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  onBody: (text: string | undefined) => void,
): void {
  const parts: Buffer[] = [];
  let size = 0;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    onBody(undefined);
    return;
  }
  const onData = (part: Buffer) => {
    size += part.length;
    if (size <= maxBytes) {
      parts.push(part);
      return;
    }
    request.off('data', onData);
    request.off('end', onEnd);
    request.resume();
    onBody(undefined);
  };
  const onEnd = () => onBody((parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString());
  request.on('data', onData);
  request.on('end', onEnd);
  request.on('error', () => {});
}

/** A call that takes longer is answered by a stream of events: proxies keep it open, and clients with a session can resume it. */
export const STREAM_AFTER_MS = 5_000;
/** An open stream without events gets a comment about this often. */
export const KEEP_ALIVE_MS = 15_000;
/** A stream whose client reads nothing for this long is closed, because unread events stay in memory. */
const UNREAD_MS = 30_000;

/** Starts a response of server-sent events. It must write something more often than every `unreadMs`. */
export function startEvents(response: ServerResponse, headers: object = {}, unreadMs = UNREAD_MS): void {
  // The timer runs only while the socket transfers nothing: also the keep-alive comments of an idle stream stop it.
  response.setTimeout(unreadMs, () => response.destroy());
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    // Keeps reverse proxies from holding events back.
    'x-accel-buffering': 'no',
    ...headers,
  });
  response.flushHeaders();
}

/** Writes one event. Returns a promise that settles when there is room for more, undefined if there is room now. */
export function writeEvent(response: ServerResponse, data: string, id?: string): Promise<void> | undefined {
  const head = id === undefined ? '' : `id: ${id}\n`;
  return writeChunk(response, `event: message\n${head}data: ${data}\n\n`);
}

/** Promises that resolve when a full response can be written to again, with one listener per response for all writers. */
const rooms = new WeakMap<ServerResponse, Promise<void>>();

function writeChunk(response: ServerResponse, chunk: string): Promise<void> | undefined {
  if (response.destroyed || response.write(chunk)) return undefined;
  const known = rooms.get(response);
  if (known !== undefined) return known;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    rooms.delete(response);
    response.off('drain', end);
    response.off('close', end);
    resolve();
  };
  response.on('drain', end);
  response.on('close', end);
  rooms.set(response, promise);
  return promise;
}

/** Keeps an idle stream from being closed by proxies. */
export function writeKeepAlive(response: ServerResponse): void {
  if (!response.destroyed) response.write(': keep-alive\n\n');
}

/** JSON text of a message; a result that cannot be serialized becomes an error. */
export function serialize(message: RpcMessage): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    return JSON.stringify('result' in message ? unsendable(message, cause) : { jsonrpc: '2.0' });
  }
}

/** Whether a header has the value of a member: a string, a number or a boolean. A member that is absent must have no header. */
export function isRepeated(header: string | string[] | undefined, value: unknown): boolean {
  if (value === undefined || value === null) return header === undefined;
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isScalar && typeof header === 'string' && decodeHeader(header) === String(value);
}

/** The text of a header value, which may be `=?base64?…?=`; undefined if the Base64 text is invalid. */
function decodeHeader(header: string): string | undefined {
  const text = header.trim();
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(text) ?? [];
  if (encoded === undefined) return text;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString() : undefined;
}
