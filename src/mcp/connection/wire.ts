import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { cutNesting, isNestedDeeper, isRecord, MAX_NESTING } from '../../base/json-value.ts';

import { INVALID_REQUEST, type RpcFailure, type RpcId, rpcFailure } from '../../protocol/json-rpc.ts';
import { TOO_LARGE } from '../transports/oversized-message.ts';
import { Secrets } from './secrets.ts';

/** A transport with our own requests beside those of the official client, and an account of how far the handshake came. */
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
  /** Hears why a message of the server went no further. */
  onDropped: (why: string) => void = () => {};
  /** When the last message came, by `performance.now()`; 0 if none did. */
  lastMessageAt = 0;
  readonly #inner: Transport;
  readonly #secrets: Secrets;
  readonly #reportedErrors = new WeakSet<object>();
  readonly #handshakeRequests = new Map<unknown, string>();
  readonly #replies = new ReplyQueue();
  #lateDiscovery: Record<string, unknown> | undefined;
  #isOpen = false;
  #isClosed = false;

  /** Nothing the server sends goes further with a credential among `secrets` in it. */
  constructor(inner: Transport, secrets: Secrets = new Secrets()) {
    this.#inner = inner;
    this.#secrets = secrets;
    // By these two the official client knows a process, which it probes in place and for a short time.
    if (!isProcessLike(inner)) return;
    Object.defineProperties(this, {
      pid: { get: () => inner.pid },
      stderr: { get: () => inner.stderr },
    });
  }

  get isProcessLike(): boolean {
    return isProcessLike(this.#inner);
  }

  /** Whether the transport was started: a process runs, an address was named. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What was asked last in the handshake and not answered yet. */
  get unanswered(): string | undefined {
    return [...this.#handshakeRequests.values()].at(-1);
  }

  /** Whether it was asked for its era and has not answered that. */
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
      // A failed request is complained of first and rejected with the same error afterwards.
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
      // A message must never throw into the transport.
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

/** What becomes of one message of a server. */
type Bounded =
  | { readonly kind: 'message'; readonly message: Message }
  /** A request of the server that gets this answer and goes no further. */
  | { readonly kind: 'refused'; readonly reply: RpcFailure }
  /** A message that goes no further; the text says why. */
  | { readonly kind: 'dropped'; readonly why: string };

/**
 * Bounds the nesting of a message, so that no code behind this point runs out of stack: an answer nested too deep fails
 * its own request, a request is refused, a notification is dropped. Of a handshake or a list only what lies too deep is
 * cut off: the other entries of the list are good.
 */
function boundNesting(message: Message): Bounded {
  if (!isNestedDeeper(message)) return { kind: 'message', message };
  const { id, method, result } = message;
  const isId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    if (isId)
      return { kind: 'refused', reply: rpcFailure(id, INVALID_REQUEST, `The request is ${TOO_DEEP}`) };
    return { kind: 'dropped', why: `its notification is ${TOO_DEEP} and was ignored: ${method}` };
  }
  if (!isId) return { kind: 'dropped', why: `it sent a message ${TOO_DEEP}, which was ignored` };
  return { kind: 'message', message: isCuttable(result) ? (cutNesting(message) as Message) : failure(id) };
}

function failure(id: RpcId): RpcFailure {
  const text = `its answer is ${TOO_DEEP}; have the server return flatter data`;
  return rpcFailure(id, TOO_LARGE, text, { limit: MAX_NESTING });
}

const TOO_DEEP = `nested more than ${MAX_NESTING} levels deep`;

function isCuttable(result: unknown): boolean {
  if (!isRecord(result) || 'content' in result || 'structuredContent' in result) return false;
  return CUTTABLE.some((name) => name in result);
}

/** Members of the answers to handshakes and lists. */
const CUTTABLE = [
  'protocolVersion',
  'supportedVersions',
  'tools',
  'prompts',
  'resources',
  'resourceTemplates',
];
/** Written or posted at once; the others wait for these. */
const MAX_SENDING = 64;
const MAX_UNSETTLED = 10_000;
/** A reply that takes longer keeps no other from being sent. */
const SLOW_MS = 30_000;
/** An id is the server's and comes back in the reply: a long one counts as many. */
const ID_LENGTH = 1000;

type Waiting = { readonly start: () => void; readonly refuse: (detail: Error) => void };

/** Sends our answers to a server's requests in order, some at once and the rest after them; too many are refused. */
class ReplyQueue {
  readonly #waiting: Waiting[] = [];
  #underWay = 0;
  #unsettled = 0;

  /** Whether another reply would have to wait. */
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

  /** What waits is not sent any more. */
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
  const text = `${MAX_UNSETTLED} answers wait for the server already`;
  return Object.assign(new Error(text), { code: 'not-reading', wasSent: false });
}

function closed(): Error {
  return Object.assign(new Error('the connection is closed'), { code: 'NOT_CONNECTED', wasSent: false });
}
