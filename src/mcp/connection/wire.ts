import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { cutNesting, isNestedDeeper, isRecord, MAX_NESTING } from '../../base/json-value.ts';

import { INVALID_REQUEST, type RpcFailure, type RpcId, rpcFailure } from '../../protocol/json-rpc.ts';
import { TOO_LARGE } from '../transports/oversized-message.ts';
import { SecretMask } from './secret-mask.ts';

/** Wraps a transport for the official client and for our own requests, and tracks the handshake. */
export class Wire implements Transport {
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  /** Gets each message first; returns true for responses and progress of our own requests, which go no further. */
  onOwnMessage: (message: Record<string, unknown>) => boolean = () => false;
  /** Gets every other message. */
  onOtherMessage: (message: Record<string, unknown>) => void = () => {};
  /** Reports transport errors other than failed requests, which reject their own promise. */
  onTransportError: () => void = () => {};
  /** Called with the reason when a message of the server is dropped. */
  onDropped: (why: string) => void = () => {};
  /** When the last message arrived, by `performance.now()`; 0 if none did. */
  lastMessageAt = 0;
  readonly #inner: Transport;
  readonly #secrets: SecretMask;
  readonly #reportedErrors = new WeakSet<object>();
  readonly #handshakeRequests = new Map<unknown, string>();
  readonly #replies = new ReplyQueue();
  #lateDiscovery: Record<string, unknown> | undefined;
  #isOpen = false;
  #isClosed = false;

  /** `secrets` are masked in all messages of the server. */
  constructor(inner: Transport, secrets: SecretMask = new SecretMask()) {
    this.#inner = inner;
    this.#secrets = secrets;
    // The official client recognizes a process by these two members, and then probes it in place with a short timeout.
    if (!isProcessLike(inner)) return;
    Object.defineProperties(this, {
      pid: { get: () => inner.pid },
      stderr: { get: () => inner.stderr },
    });
  }

  get isProcessLike(): boolean {
    return isProcessLike(this.#inner);
  }

  /** Whether the transport was started: a process is running, or a URL is set. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The last handshake request without a response. */
  get unanswered(): string | undefined {
    return [...this.#handshakeRequests.values()].at(-1);
  }

  /** Whether the protocol probe has no response yet. */
  get isProbeUnanswered(): boolean {
    return [...this.#handshakeRequests.values()].includes(PROBE);
  }

  /** A probe response that arrived after the client had stopped waiting for it. */
  get lateDiscovery(): Record<string, unknown> | undefined {
    return this.#lateDiscovery;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true;
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => this.#receive(message, extra);
    this.#inner.onclose = () => {
      this.#isClosed = true;
      this.#replies.close();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => {
      // A failed request is first reported here and then rejects with the same error.
      setImmediate(() => {
        if (!this.#reportedErrors.has(error) && !this.#isClosed) this.onTransportError();
      });
      this.onerror?.(error);
    };
    await this.#inner.start();
    this.#isOpen = true;
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message && 'id' in message && HANDSHAKE.has(message.method)) {
      this.#handshakeRequests.set(message.id, message.method);
    }
    if ('method' in message) return this.#inner.send(message, options);
    return this.#replies.send(message.id, async () => this.#inner.send(message, options));
  }

  /** Marks a failure as reported to the caller, so that it does not count as a transport error. */
  markReported(failure: unknown): void {
    if (typeof failure === 'object' && failure !== null) this.#reportedErrors.add(failure);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions);
  }

  #receive(received: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    this.lastMessageAt = performance.now();
    if (!isRecord(received)) return;
    try {
      const bounded = boundNesting(received);
      if (bounded.kind === 'dropped') this.onDropped(bounded.why);
      if (bounded.kind === 'refused') this.send(bounded.reply).catch(() => {});
      if (bounded.kind !== 'message') return;
      const message = this.#secrets.maskMessage(bounded.message);
      if (this.onOwnMessage(message)) return;
      this.onOtherMessage(message);
      // A server that sends pings and does not read the replies gets no more replies until it has read some.
      if (this.#replies.isBusy && message.method === 'ping' && 'id' in message) return;
      if (this.#handshakeRequests.size > 0 && !('method' in message)) this.#note(message);
      this.onmessage?.(message as JSONRPCMessage, extra);
    } catch {
      // An error while a message is handled must not reach the transport.
      this.onTransportError();
    }
  }

  #note(message: Record<string, unknown>): void {
    const isProbe = this.#handshakeRequests.get(message.id) === PROBE;
    const isLate = isProbe && this.unanswered !== PROBE;
    this.#handshakeRequests.delete(message.id);
    if (isLate && isRecord(message.result) && Array.isArray(message.result.supportedVersions)) {
      this.#lateDiscovery = message.result;
    }
  }
}

const PROBE = 'server/discover';
const HANDSHAKE: ReadonlySet<string> = new Set([PROBE, 'initialize']);

function isProcessLike(transport: Transport): transport is Transport & { pid: unknown; stderr: unknown } {
  return 'pid' in transport && 'stderr' in transport;
}

type Message = Record<string, unknown>;

/** The outcome of the nesting check for one message. */
type Bounded =
  | { readonly kind: 'message'; readonly message: Message }
  /** A request of the server that gets this error response. */
  | { readonly kind: 'refused'; readonly reply: RpcFailure }
  /** A dropped message, with the reason. */
  | { readonly kind: 'dropped'; readonly why: string };

/**
 * Limits the nesting of a message, so that later code cannot overflow the stack: a response nested too deep fails its
 * request, a request is refused, a notification is dropped. In a handshake or a list only the parts that are too deep
 * are cut off, since other entries may be valid.
 */
function boundNesting(message: Message): Bounded {
  if (!isNestedDeeper(message)) return { kind: 'message', message };
  const { id, method, result } = message;
  const isId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    if (isId)
      return { kind: 'refused', reply: rpcFailure(id, INVALID_REQUEST, `The request is ${TOO_DEEP}`) };
    return { kind: 'dropped', why: `a notification ${TOO_DEEP} was ignored: ${method}` };
  }
  if (!isId) return { kind: 'dropped', why: `a message ${TOO_DEEP} was ignored` };
  return { kind: 'message', message: isCuttable(result) ? (cutNesting(message) as Message) : failure(id) };
}

function failure(id: RpcId): RpcFailure {
  const text = `its response is ${TOO_DEEP}; return flatter data from the server`;
  return rpcFailure(id, TOO_LARGE, text, { limit: MAX_NESTING });
}

const TOO_DEEP = `nested more than ${MAX_NESTING} levels deep`;

function isCuttable(result: unknown): boolean {
  if (!isRecord(result) || 'content' in result || 'structuredContent' in result) return false;
  return CUTTABLE.some((name) => name in result);
}

/** Members of handshake and list results. */
const CUTTABLE = [
  'protocolVersion',
  'supportedVersions',
  'tools',
  'prompts',
  'resources',
  'resourceTemplates',
  'skills',
];

/** Maximum number of replies that are being written; further ones are queued. */
const MAX_SENDING = 64;
const MAX_UNSETTLED = 10_000;
/** After this time, a reply that is still being written no longer counts for `MAX_SENDING`. */
const SLOW_MS = 30_000;
/** Each 1000 characters of an id count as another reply: the server chooses the ids, and the replies repeat them. */
const ID_LENGTH = 1000;

type Waiting = { readonly start: () => void; readonly refuse: (detail: Error) => void };

/** Sends our replies to a server's requests in order, with limited concurrency; too many pending ones are refused. */
class ReplyQueue {
  readonly #waiting: Waiting[] = [];
  #underWay = 0;
  #unsettled = 0;

  /** Whether another reply would be queued. */
  get isBusy(): boolean {
    return this.#underWay >= MAX_SENDING;
  }

  send(id: unknown, write: () => Promise<void>): Promise<void> {
    const weight = typeof id === 'string' ? 1 + Math.floor(id.length / ID_LENGTH) : 1;
    if (this.#unsettled + weight > MAX_UNSETTLED) return Promise.reject(tooMany());
    this.#unsettled += weight;
    if (this.#underWay < MAX_SENDING) return this.#start(weight, write);
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        start: () => void this.#start(weight, write).then(resolve, reject),
        refuse: (detail) => {
          this.#unsettled -= weight;
          reject(detail);
        },
      });
    });
  }

  /** Drops queued replies. */
  close(): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed());
  }

  #start(weight: number, write: () => Promise<void>): Promise<void> {
    let isUnderWay = true;
    this.#underWay++;
    const makeRoom = () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      this.#underWay--;
      this.#waiting.shift()?.start();
    };
    const slow = setTimeout(makeRoom, SLOW_MS).unref();
    const done = () => {
      clearTimeout(slow);
      this.#unsettled -= weight;
      makeRoom();
    };
    const sent = write();
    sent.then(done, done);
    return sent;
  }
}

function tooMany(): Error {
  const text = `the server does not read its input: ${MAX_UNSETTLED} replies are pending`;
  return Object.assign(new Error(text), { code: 'not-reading', wasSent: false });
}

function closed(): Error {
  return Object.assign(new Error('the connection is closed'), { code: 'NOT_CONNECTED', wasSent: false });
}
