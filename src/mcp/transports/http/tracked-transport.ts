import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { within } from '../../../base/async/timers.ts';
import { isRecord } from '../../../base/json-value.ts';
import { HttpError } from './http-error.ts';

/** Options of the start of a transport. */
type Start = {
  /** Awaited before anything is sent. */
  prepare?: () => unknown;
  /** The cause of a failed start, if it is known. */
  explain?: (failure: unknown) => unknown;
};

/**
 * A transport whose requests always settle: the official ones forget a request whose stream ends without a response.
 * Here `send` resolves when the response has arrived, and rejects with the reason if none can come.
 */
export class TrackedTransport implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #inner: Transport;
  readonly #start: Start;
  readonly #waiting = new Map<string, (error?: unknown) => void>();
  /** Requests that failed here, whose late responses are dropped. */
  readonly #failed = new Set<string>();
  /** Requests that are being sent. */
  readonly #posting = new Set<Promise<void>>();
  /** Rejects when the connection is lost, never resolves: the start of the official transports may hang. */
  readonly #lost = Promise.withResolvers<never>();
  #lastError: HttpError | undefined;
  #isLeaving = false;
  #isLost = false;
  #isClosed = false;

  constructor(inner: Transport, start: Start = {}) {
    this.#inner = inner;
    this.#start = start;
    this.#lost.promise.catch(() => {});
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    await this.#start.prepare?.();
    this.#inner.onmessage = (message, extra) => {
      if (!('method' in message) && this.#hasFailed(message)) return;
      this.onmessage?.(message, extra);
    };
    this.#inner.onerror = (failure) => {
      // Errors during our own close are not reported.
      if (this.#isLeaving) return;
      if (failure instanceof HttpError) this.#lastError = failure;
      this.onerror?.(failure);
    };
    this.#inner.onclose = () => this.#end(this.#isLeaving ? undefined : this.#lastError);
    try {
      await Promise.race([this.#inner.start(), this.#lost.promise]);
    } catch (failure) {
      await this.#inner.close().catch(() => {});
      throw this.#start.explain?.(failure) ?? failure;
    }
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#isClosed || this.#isLost) {
      throw new HttpError('the connection is closed', { code: 'stream-ended', wasSent: false });
    }
    if (!('method' in message && 'id' in message)) {
      const cancelled = cancelledId(message);
      if (cancelled !== undefined) this.#waiting.get(cancelled)?.();
      return this.#inner.send(message, options);
    }
    const key = String(message.id);
    const answered = Promise.withResolvers<void>();
    // May be settled before anything awaits it.
    answered.promise.catch(() => {});
    const settle = (error?: unknown) => (error === undefined ? answered.resolve() : answered.reject(error));
    const leave = () => answered.resolve();
    this.#waiting.set(key, settle);
    options?.requestSignal?.addEventListener('abort', leave, { once: true });
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      settle(new HttpError('the stream ended before the response arrived', ENDED));
    };
    try {
      const posted = this.#inner.send(message, { ...options, onRequestStreamEnd });
      this.#posting.add(posted);
      await posted.finally(() => this.#posting.delete(posted));
      await answered.promise;
    } finally {
      this.#waiting.delete(key);
      options?.requestSignal?.removeEventListener('abort', leave);
    }
  }

  /** Fails the request with that id; without an id the error is reported for the connection. */
  fail(id: number | string | undefined, error: Error): void {
    const settle = id === undefined ? undefined : this.#waiting.get(String(id));
    if (!settle) {
      this.onerror?.(error);
      return;
    }
    this.#failed.add(String(id));
    settle(error);
  }

  /** The server ended the connection. Requests that are being sent may still learn whether they arrived. */
  async lose(error: HttpError): Promise<void> {
    this.#isLost = true;
    this.#lost.reject(error);
    this.#inner.onerror?.(error);
    if (this.#posting.size > 0) {
      await within(POSTED_MS, Promise.allSettled(this.#posting), new AbortController().signal);
    }
    await this.#inner.close();
  }

  async close(): Promise<void> {
    this.#isLeaving = true;
    await this.#inner.close();
    this.#end();
  }

  #hasFailed(message: object): boolean {
    const key = String((message as { id?: unknown }).id);
    if (this.#failed.delete(key)) return true;
    this.#waiting.get(key)?.();
    return false;
  }

  #end(error?: HttpError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const settlers = [...this.#waiting.values()];
    for (const settle of settlers) settle(error);
    // Requests learn the reason before the close is reported.
    if (error && settlers.length > 0) setImmediate(() => this.onclose?.());
    else this.onclose?.();
  }
}

/** How long a request that is being sent is awaited after the response stream has ended. */
const POSTED_MS = 1000;
const ENDED = { code: 'stream-ended', wasSent: true } as const;

function cancelledId(message: JSONRPCMessage): string | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const { requestId } = isRecord(message.params) ? message.params : {};
  return requestId === undefined ? undefined : String(requestId);
}
