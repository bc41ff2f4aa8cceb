import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { RawData, WebSocket } from 'ws';
import { redactText } from '../../../base/text/redact.ts';
import type { WsServerEntry } from '../../../protocol/server-entry.ts';
import { httpUrl } from '../../auth/discovery.ts';
import type { ConnectContext, Dialed } from '../../connection/connect-context.ts';
import { normalizeLooseMessage } from '../../connection/normalize-message.ts';
import { CONNECT_MS, checkProxy, headersOf, maskedAuthorizer, urlOf } from '../http/dial-http.ts';
import { excerpt, HttpError, toNetworkError } from '../http/http-error.ts';
import { openTunnel, proxyFor } from '../http/proxy.ts';
import { type TlsOptions, tlsOptions } from '../http/tls-options.ts';
import { TrackedTransport } from '../http/tracked-transport.ts';
import { formatTooLarge, maxFrameBytesOf, readLongMessage, tooLarge } from '../oversized-message.ts';

const HEARTBEAT_MS = 15_000;

/** Creates a WebSocket transport with the subprotocol `mcp`. Refused headers are requested again, and retried if they changed. */
export async function dialWs(
  name: string,
  entry: Omit<WsServerEntry, 'type'>,
  context: ConnectContext,
  heartbeatMs = HEARTBEAT_MS,
): Promise<Dialed> {
  const url = urlOf(name, entry.url);
  const headers = headersOf(name, entry, context);
  const mask = (text: string) => context.secrets?.maskCredentials(text) ?? text;
  const limits = { heartbeatMs, limit: maxFrameBytesOf(entry, context), mask };
  const open = await opener(name, url, entry, context);
  const authorizer = maskedAuthorizer(name, entry, context);
  const kept = authorizer?.keepFresh();
  const request = { method: 'GET', url: new URL(httpUrl(url.href)) };
  let [sent, authorization]: Readonly<Record<string, string>>[] = [];
  const inner = new WsTransport(
    async () => {
      [sent, authorization] = [await headers.get(), (await authorizer?.headers(request)) ?? {}];
      return open({ ...sent, ...authorization }, maxPayloadOf(limits.limit));
    },
    limits,
    async ({ challenge }, isRepeated) => {
      if (authorizer === undefined) return !isRepeated && (await headers.renew(sent ?? {})) !== undefined;
      const refused = { status: 401, challenge, dpopNonce: undefined, isRepeated } as const;
      return authorizer.onRefused({ ...refused, sent: authorization ?? {}, url: request.url });
    },
  );
  const transport = new WatchedSocket(inner);
  return {
    transport,
    async close() {
      kept?.[Symbol.dispose]();
      await Promise.all([transport.close().catch(() => {}), headers.close()]);
    },
    stderr: () => [],
  };
}

/** A function that opens a socket, through the proxy from the environment. */
async function opener(name: string, url: URL, entry: Pick<WsServerEntry, 'tls'>, context: ConnectContext) {
  const tls = await tlsOptions(name, entry.tls);
  const proxy = proxyFor(url, context.env);
  const via = proxy === undefined ? undefined : checkProxy(name, proxy);
  const { WebSocket } = await import('ws');
  return async (headers: Readonly<Record<string, string>>, maxPayload: number): Promise<WebSocket> => {
    const tunnel = via && (await tunnelled(via, url, tls));
    return new WebSocket(url, 'mcp', {
      ...tls,
      headers,
      maxPayload,
      perMessageDeflate: false,
      handshakeTimeout: CONNECT_MS,
      ...(tunnel && { createConnection: () => tunnel }),
    });
  };
}

async function tunnelled(via: URL, { protocol, hostname, port }: URL, tls: TlsOptions): Promise<Socket> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'wss:';
  const socket = await openTunnel(via, { host, port: Number(port) || (isSecure ? 443 : 80) }, CONNECT_MS);
  if (!isSecure) return socket;
  const { connect } = await import('node:tls');
  return connect({ servername: host, ...tls, socket });
}

/** These members tell the official client that it may probe the era in place, and that no response is an answer. */
class WatchedSocket extends TrackedTransport {
  get pid(): null {
    return null;
  }

  get stderr(): null {
    return null;
  }
}

/** Limits of one socket. */
type WsLimits = {
  /** Interval of pings; the connection is lost when `MAX_MISSED_PONGS` in a row are unanswered. */
  heartbeatMs: number;
  /** Maximum size of a message, in bytes. */
  limit: number;
  /** Masks credentials in the close reason of the server. */
  mask?(text: string): string;
};

/** Whether to try again after a refusal, with other headers; `isRepeated` if other headers were refused before. */
type RenewHeaders = (refusal: HttpError, isRepeated: boolean) => Promise<boolean>;

/**
 * The payload limit of the socket, in bytes. The socket closes above it, so it is higher than the message limit: a message
 * between the two fails only its own call.
 */
function maxPayloadOf(limit: number): number {
  return Math.max(4 * limit, MIN_PAYLOAD_BYTES);
}

/** One message per WebSocket frame. Half-open sockets are detected and closed. */
class WsTransport implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #open: () => Promise<WebSocket>;
  readonly #limits: WsLimits;
  readonly #renew: RenewHeaders;
  #socket: WebSocket | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #missed = 0;
  #isClosed = false;
  /** Why the connection was lost. */
  #error: HttpError | undefined;

  /** `open` returns a connecting socket or rejects; `renew` decides whether to retry after a refusal. */
  constructor(open: () => Promise<WebSocket>, limits: WsLimits, renew: RenewHeaders) {
    this.#open = open;
    this.#limits = limits;
    this.#renew = renew;
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#connect();
        return;
      } catch (failure) {
        const isRefused = failure instanceof HttpError && failure.status === 401;
        if (!isRefused || this.#isClosed || attempt === MAX_ATTEMPTS) throw failure;
        if (!(await this.#renew(failure, attempt > 1))) throw failure;
      }
    }
  }

  async #connect(): Promise<void> {
    const socket = await this.#open();
    this.#socket = socket;
    const opened = Promise.withResolvers<void>();
    let isOpen = false;
    socket.on('open', () => {
      isOpen = true;
      opened.resolve();
    });
    // The server may send messages as soon as the socket is open.
    socket.on('message', (data) => this.#receive(data));
    socket.on('pong', () => this.#markAlive());
    socket.on('unexpected-response', (request, response) => {
      void refusalOf(response).then((error) => {
        request.destroy();
        opened.reject(error);
        socket.terminate();
      });
    });
    socket.on('error', (failure) => {
      if (isOpen) this.onerror?.(this.#toError(failure));
      else opened.reject(handshakeError(failure));
    });
    socket.on('close', (code, reason) => {
      opened.reject(closedError('the socket was closed'));
      if (isOpen) this.#end(code, reason.toString());
    });
    if (this.#isClosed) socket.terminate();
    await opened.promise;
    this.#heartbeat = setInterval(() => this.#beat(socket), this.#limits.heartbeatMs).unref();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (!socket || this.#isClosed) return Promise.reject(notSentError());
    return new Promise((resolve, reject) => {
      const refuse = (failure: Error) => reject(this.#error ?? toNetworkError(failure));
      socket.send(JSON.stringify(message), (failure) => {
        if (!failure) return resolve();
        // A server that is closing the socket gives the reason in the close frame.
        if (socket.readyState !== socket.CLOSING) return refuse(failure);
        socket.once('close', () => refuse(failure));
      });
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    const socket = this.#socket;
    if (socket && socket.readyState !== socket.CLOSED) {
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
      socket.close(1000);
      await closed;
      clearTimeout(timer);
    }
    this.onclose?.();
  }

  #receive(data: RawData): void {
    this.#markAlive();
    const bytes = bytesOf(data);
    if (bytes.length > this.#limits.limit) {
      this.#pass(bytes);
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString('utf8'));
    } catch (cause) {
      this.onerror?.(new Error('received a frame that is not JSON', { cause }));
      return;
    }
    for (const member of Array.isArray(value) ? value : [value]) {
      const message = normalizeLooseMessage(member);
      if (message) this.onmessage?.(message);
      else this.onerror?.(new Error('received a frame that is not a JSON-RPC message'));
    }
  }

  /** Of an oversized message only the id is read: a response fails its own request. */
  #pass(bytes: Buffer): void {
    const { limit } = this.#limits;
    const { answered, refusals } = readLongMessage(bytes, limit);
    for (const id of answered) this.onmessage?.(tooLarge(id, bytes.length, limit));
    for (const refusal of refusals) void this.send(refusal).catch(() => {});
    if (answered.length === 0) this.onerror?.(new Error(formatTooLarge(bytes.length, limit)));
  }

  #markAlive(): void {
    this.#missed = 0;
  }

  #beat(socket: WebSocket): void {
    if (this.#missed++ < MAX_MISSED_PONGS) {
      socket.ping();
      return;
    }
    this.#lose(closedError('the server stopped responding to pings'));
    socket.terminate();
  }

  #end(code: number, reason: string): void {
    const masked = this.#limits.mask?.(reason) ?? reason;
    const why = masked === '' ? '' : `: ${redactText(masked)}`;
    this.#lose(closedError(`the server closed the socket with code ${code}${why}`));
  }

  /** Keeps the first error. */
  #lose(error: HttpError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#error = error;
    clearInterval(this.#heartbeat);
    this.onerror?.(error);
    this.onclose?.();
  }

  #toError(failure: Error): Error {
    const { code } = failure as NodeJS.ErrnoException;
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
      this.#lose(closedError(formatPayloadTooLarge(this.#limits.limit)));
    const error = toNetworkError(failure);
    return error instanceof Error ? error : failure;
  }
}

/** Maximum attempts to open the socket; each has another token. */
const MAX_ATTEMPTS = 4;
const CLOSE_TIMEOUT_MS = 1000;
const MIN_PAYLOAD_BYTES = 16 * 1024 * 1024;
/** Unanswered pings before the connection is lost. They detect a dead peer in a long call; else `HealthChecks` does. */
const MAX_MISSED_PONGS = 20;

/** Why a server refused the WebSocket: its status, and the beginning of the body if it arrives soon. */
async function refusalOf(response: IncomingMessage): Promise<HttpError> {
  const { statusCode: status = 0, headers } = response;
  const timer = setTimeout(() => response.destroy(), REASON_MS);
  let reason = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      reason += chunk;
      if (reason.length > REASON_LENGTH) break;
    }
  } catch {
    // The part that arrived before the body broke off is used.
  }
  clearTimeout(timer);
  const challenge = headers['www-authenticate'];
  return new HttpError(`the server answered with HTTP ${status} instead of opening a WebSocket`, {
    code: 'http-status',
    status,
    wasSent: true,
    reason: headers['content-type']?.includes('html') ? excerpt(reason) : reason,
    ...(challenge !== undefined && { challenge }),
  });
}

const REASON_MS = 1000;
const REASON_LENGTH = 5000;

function notSentError(): HttpError {
  return new HttpError('the socket is closed', { code: 'stream-ended', wasSent: false });
}

function closedError(message: string): HttpError {
  return new HttpError(message, { code: 'stream-ended', wasSent: true });
}

/** An error before the end of the handshake has a system code, or belongs to the handshake. */
function handshakeError(failure: Error): unknown {
  const error = toNetworkError(failure);
  if (error instanceof HttpError) return error;
  const message = `the WebSocket handshake failed: ${failure.message}; check "url"`;
  return new HttpError(message, { code: 'ws-handshake', wasSent: false, cause: failure });
}

function formatPayloadTooLarge(limit: number): string {
  const size = `more than ${maxPayloadOf(limit)} bytes`;
  return `the server sent a message of ${size}, which closes the connection; raise "maxFrameBytes" in its entry or return less from the tool`;
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}
