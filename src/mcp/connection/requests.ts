import type { JSONRPCMessage, Progress } from '@modelcontextprotocol/client';
import { startTimer } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import { INTERNAL } from '../../protocol/json-rpc.ts';
import { RequestAbortError } from '../../protocol/sdk-error.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { HostError, ServerFault } from '../errors/host-error.ts';
import { isSessionLost, SessionLossCheck } from '../errors/session-loss.ts';
import { NO_ANSWER } from './normalize-message.ts';
import { SecretMask } from './secret-mask.ts';
import type { Wire } from './wire.ts';

/** One request; `headers` are sent where the transport supports them. */
export type OutgoingRequest = {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

type PendingRequest = {
  readonly question: OutgoingRequest;
  readonly resolve: (result: Record<string, unknown>) => void;
  readonly reject: (failure: unknown) => void;
  readonly options: RequestOptions;
  total?: NodeJS.Timeout;
  idle?: NodeJS.Timeout;
  abort?: () => void;
  stream?: AbortController;
};

/** The requests of one connection: each is answered, aborted, timed out or lost with the connection, exactly once. */
export class Requests {
  readonly #server: string;
  readonly #wire: Wire;
  readonly #waiting = new Map<number, PendingRequest>();
  #last = 0;
  #envelope: Readonly<Record<string, unknown>> | undefined;
  #requestMeta: (() => Readonly<Record<string, unknown>>) | undefined;
  #isOver = false;
  readonly #secrets: SecretMask;
  readonly #session: SessionLossCheck;

  constructor(server: string, wire: Wire, secrets: SecretMask = new SecretMask()) {
    this.#server = server;
    this.#wire = wire;
    this.#secrets = secrets;
    this.#session = new SessionLossCheck(server, secrets, () => this.request(PING, { timeoutMs: PING_MS }));
  }

  /** Adds this `_meta` to every message, as the stateless protocol requires, and `rest` to every request. */
  useStatelessProtocol(
    envelope: Readonly<Record<string, unknown>>,
    rest: () => Readonly<Record<string, unknown>> = () => ({}),
  ): void {
    this.#envelope = envelope;
    this.#requestMeta = () => ({ ...envelope, ...rest() });
  }

  /** Resolves with the unparsed result; rejects with a `HostError`, an `AbortError` or a `ServerFault`. */
  request(question: OutgoingRequest, options: RequestOptions): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(this.#closed('no'));
      if (options.signal?.aborted) return reject(aborted(options.signal));
      const id = ++this.#last;
      const waiting: PendingRequest = { question, resolve, reject, options };
      this.#waiting.set(id, waiting);
      this.#watch(id, waiting);
      this.#send(id, waiting);
    });
  }

  /** Handles responses and progress of our own requests, also of settled ones; returns false for other messages. */
  receive(message: Record<string, unknown>): boolean {
    const { method } = message;
    if (typeof method !== 'string') {
      const id = idOf(message.id);
      if (!(id >= 1 && id <= this.#last)) return false;
      const waiting = this.#waiting.get(id);
      if (waiting && this.#forget(id, waiting)) this.#settle(waiting, message);
      return true;
    }
    if (method !== 'notifications/progress' || !isRecord(message.params)) return false;
    const waiting = this.#waiting.get(idOf(message.params.progressToken));
    if (!waiting) return false;
    waiting.idle?.refresh();
    try {
      waiting.options.onProgress?.(message.params as unknown as Progress);
    } catch {
      // An error of the listener is not an error of the server.
    }
    return true;
  }

  /** Sends a notification; one that cannot be sent is dropped, because a notification has no response. */
  notify(method: string, params: Readonly<Record<string, unknown>>): void {
    const given = this.#envelope ? { ...params, _meta: this.#envelope } : params;
    try {
      this.#wire.send({ jsonrpc: '2.0', method, params: given } as JSONRPCMessage).catch(() => {});
    } catch {
      // The connection is already closed.
    }
  }

  /** Rejects all pending requests, because the connection is closed. */
  end(): void {
    this.#isOver = true;
    for (const [id, waiting] of [...this.#waiting]) {
      this.#forget(id, waiting);
      waiting.reject(this.#closed('maybe'));
    }
  }

  #watch(id: number, waiting: PendingRequest): void {
    const { signal, timeoutMs, idleTimeoutMs } = waiting.options;
    if (timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY) {
      waiting.total = startTimer(timeoutMs, () => this.#expire(id, waiting, 'total', timeoutMs));
    }
    if (idleTimeoutMs !== undefined && idleTimeoutMs !== Number.POSITIVE_INFINITY) {
      waiting.idle = startTimer(idleTimeoutMs, () => this.#expire(id, waiting, 'idle', idleTimeoutMs));
    }
    if (!signal) return;
    waiting.abort = () => this.#drop(id, waiting, 'aborted', aborted(signal));
    signal.addEventListener('abort', waiting.abort);
  }

  /** Whether a request of a user is pending: a call, a prompt or a resource, but not a list. */
  get hasPendingUserRequest(): boolean {
    for (const { question } of this.#waiting.values()) if (USER_REQUESTS.has(question.method)) return true;
    return false;
  }

  /** Whether a tool call is pending. */
  get hasPendingCall(): boolean {
    for (const { question } of this.#waiting.values()) if (question.method === 'tools/call') return true;
    return false;
  }

  #send(id: number, waiting: PendingRequest): void {
    const { method, params, headers } = waiting.question;
    const { meta, onProgress, idleTimeoutMs } = waiting.options;
    const token = onProgress || idleTimeoutMs !== undefined ? { progressToken: id } : undefined;
    const fixed = this.#requestMeta?.();
    const given = isRecord(params._meta) ? params._meta : undefined;
    const _meta = fixed || meta || token ? { ...fixed, ...given, ...meta, ...token } : undefined;
    const message = {
      jsonrpc: '2.0',
      id,
      method,
      params: _meta ? { ...params, _meta } : params,
    } as JSONRPCMessage;
    const failed = (failure: unknown) => {
      this.#wire.markReported(failure);
      if (!this.#waiting.has(id)) return;
      const hadSession = this.#wire.sessionId !== undefined;
      const detail = isWritable(message)
        ? classifyFailure(this.#server, failure, { hadSession, isEstablished: true, secrets: this.#secrets })
        : new HostError('bad-config', this.#server, UNWRITABLE, { cause: failure, hasRun: 'no' });
      const settle = (sure: Error) => this.#forget(id, waiting) && waiting.reject(sure);
      if (this.#envelope || method === PING.method || !isSessionLost(detail)) settle(detail);
      else void this.#session.confirm(detail, method).then(settle);
    };
    try {
      if (!this.#wire.hasPerRequestStream) {
        this.#wire.send(message).catch(failed);
        return;
      }
      waiting.stream = new AbortController();
      const sent = this.#wire.send(message, {
        requestSignal: waiting.stream.signal,
        // When the stream ends, the response has arrived already or will never arrive.
        onRequestStreamEnd: () => this.#forget(id, waiting) && waiting.reject(this.#cut()),
        ...(headers && { headers }),
      });
      sent.catch(failed);
    } catch (failure) {
      failed(failure);
    }
  }

  #settle({ question, resolve, reject }: PendingRequest, { error, result }: Record<string, unknown>): void {
    if (error !== undefined && error !== null) {
      reject(classifyFailure(this.#server, serverErrorOf(this.#server, error), { secrets: this.#secrets }));
      return;
    }
    const detail = invalidResultError(this.#server, question.method, result);
    if (detail === undefined) resolve(result as Record<string, unknown>);
    else reject(detail);
  }

  #expire(id: number, waiting: PendingRequest, limit: Limit, ms: number): void {
    const { method, params } = waiting.question;
    const detail = formatTimeout(
      method === 'tools/call' ? `tool "${params.name}"` : `"${method}"`,
      limit,
      ms,
    );
    this.#drop(id, waiting, 'timed out', new HostError('timeout', this.#server, detail));
  }

  #drop(id: number, waiting: PendingRequest, reason: string, failure: Error): void {
    if (!this.#forget(id, waiting)) return;
    waiting.reject(failure);
    // The stateless protocol cancels a request by closing its stream.
    if (!this.#envelope || !waiting.stream) this.#cancel(id, reason);
    waiting.stream?.abort();
  }

  #cancel(requestId: number, reason: string): void {
    this.notify('notifications/cancelled', { requestId, reason });
  }

  /** Removes a pending request; false if it was already settled. */
  #forget(id: number, { total, idle, abort, options }: PendingRequest): boolean {
    if (!this.#waiting.delete(id)) return false;
    clearTimeout(total);
    clearTimeout(idle);
    if (abort) options.signal?.removeEventListener('abort', abort);
    return true;
  }

  #closed(hasRun: 'no' | 'maybe'): HostError {
    return new HostError('closed', this.#server, 'the connection is closed', { isTerminal: true, hasRun });
  }

  #cut(): HostError {
    const detail =
      'the stream ended before the response arrived; check what the call did before you repeat it';
    return new HostError('closed', this.#server, detail, { isTerminal: true });
  }
}

const USER_REQUESTS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
const PING: OutgoingRequest = { method: 'ping', params: {} };
/** Time limit of the ping that checks whether the server still knows the session. */
const PING_MS = 5000;
const UNWRITABLE = 'the request cannot be serialized as JSON (a cycle or a BigInt); pass plain data';

/** Checked only after sending has failed. */
function isWritable(message: JSONRPCMessage): boolean {
  try {
    JSON.stringify(message);
    return true;
  } catch {
    return false;
  }
}

/** Some servers return numeric ids as strings; NaN for anything else. */
function idOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

function aborted(signal: AbortSignal): RequestAbortError {
  return new RequestAbortError('The request was aborted', { cause: signal.reason });
}

/** The JSON-RPC error of a response, also if it is malformed. */
function serverErrorOf(server: string, error: unknown): ServerFault {
  const { code, message, data }: Record<string, unknown> = isRecord(error) ? error : { message: error };
  const text = typeof message === 'string' ? message : '';
  return new ServerFault(server, typeof code === 'number' ? code : 0, text, data);
}

/** The error for a result of the wrong shape; unknown members are allowed. */
function invalidResultError(server: string, method: string, result: unknown): ServerFault | undefined {
  const detail = isRecord(result) ? describeInvalidMembers(method, result) : NO_ANSWER;
  return detail === undefined
    ? undefined
    : new ServerFault(server, INTERNAL, `MCP server "${server}": ${detail}`);
}

function describeInvalidMembers(method: string, { content }: Record<string, unknown>): string | undefined {
  if (method !== 'tools/call' || content === undefined || Array.isArray(content)) return undefined;
  return 'the "content" of its result is not a list; report this to the server\'s author';
}

/** The total time, or the time without a message. */
type Limit = 'total' | 'idle';

/** Names what timed out, the limit, and the setting to raise. */
export function formatTimeout(subject: string, limit: Limit, ms: number): string {
  const time = formatDuration(ms);
  return limit === 'idle'
    ? `${subject} timed out after ${time} without a message; raise idleTimeoutMs if it may take longer`
    : `${subject} timed out after ${time}; raise "timeout" of the server entry or callTimeoutMs if it may take longer`;
}

function formatDuration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.floor(ms / 1000)}s`;
}

/** Options of one request. */
export type RequestOptions = {
  signal?: AbortSignal;
  /** Total time limit. Default: none. */
  timeoutMs?: number;
  /** Time limit between messages; progress restarts it. */
  idleTimeoutMs?: number;
  onProgress?: (progress: Progress) => void;
  /** Sent as `_meta` of the request. */
  meta?: Record<string, unknown>;
  /** Of a tool call: whether the tool must be called as a task. */
  taskSupport?: 'forbidden' | 'optional' | 'required' | undefined;
};
