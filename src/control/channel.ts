import { randomUUID } from 'node:crypto';
import { InFlight } from '../base/async/in-flight.ts';
import { startTimer } from '../base/async/timers.ts';
import {
  cancelFrame,
  type Frame,
  failureFrame,
  type Incoming,
  type ResponseOutcome,
  readFrame,
  requestFrame,
  successFrame,
} from '../protocol/control-frame.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import type { AgentLink } from './link.ts';

/** Returned by a handler whose request is answered out of band. */
export const NO_REPLY: unique symbol = Symbol('no reply');

/** Returned by a handler that answers with the request's `reply`, which saves a promise. */
export const REPLIES_LATER: unique symbol = Symbol('replies later');

export type Reply = Frame | undefined | typeof NO_REPLY | typeof REPLIES_LATER;

export type ChannelHandlers = {
  /** Serves one request; an exception becomes the failure response. Requests are served concurrently. */
  request(subtype: string, body: Frame, served: ServedRequest): Reply | Promise<Reply>;
  /** Receives every frame that is neither a control request nor a response. */
  message(message: Frame): void;
  /** The reply to send in place of one that is not serializable; undefined for a plain failure. */
  replace?(subtype: string, body: Frame, cause: unknown): Frame | undefined;
  /** Receives errors in frames, for debugging. */
  fault?(reason: string): void;
  /** Whether requests are still answered after the far end has closed its side: it may go on reading. */
  readonly answersAfterEnd?: boolean;
};

export type ControlAnswer = { response: Frame; extra: Frame };

type Pending = { subtype: string; settle: PromiseWithResolvers<ControlAnswer>; stop: () => void };

/** Both directions of the control protocol over one link: every request is answered exactly once. */
export class ControlChannel {
  readonly #link: AgentLink;
  readonly #handlers: ChannelHandlers;
  readonly #pending = new Map<string, Pending>();
  readonly #serving = new InFlight<string, Serving>();
  readonly #idPrefix = Math.random().toString(36).slice(2, 8);
  #nextId = 0;
  #over: Error | undefined;
  /** Settles when the link is over: resolves if it ended as expected, rejects if it died. */
  readonly done: Promise<void>;

  constructor(link: AgentLink, handlers: ChannelHandlers) {
    this.#link = link;
    this.#handlers = handlers;
    this.done = this.#pump();
    // Not every caller awaits `done`: pending requests reject on their own.
    this.done.catch(() => {});
  }

  /** Sends a request. Rejects on a failure response, on `timeoutMs`, on abort (with a cancel frame), and at once when the link ends. */
  request(body: Frame & { subtype: string }, options: RequestOptions = {}): Promise<ControlAnswer> {
    if (this.#over) return Promise.reject(this.#over);
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    const id = `${this.#idPrefix}${(this.#nextId++).toString(36)}`;
    const settle = Promise.withResolvers<ControlAnswer>();
    const pending: Pending = { subtype: body.subtype, settle, stop: () => {} };
    this.#pending.set(id, pending);
    this.#limit(id, pending, options);
    try {
      this.#link.send(requestFrame(id, body)).catch((cause) => this.#reject(id, linkFault(cause)));
    } catch (cause) {
      this.#reject(id, cause as Error);
    }
    return settle.promise;
  }

  /** Sends a request without waiting for its response. Never throws: a send error goes to `fault`. */
  post(body: Frame): void {
    try {
      this.#post({ type: 'control_request', request_id: randomUUID(), request: body });
    } catch (cause) {
      this.#handlers.fault?.(messageOf(cause));
    }
  }

  /** Sends any other frame, in order with the rest. */
  send(frame: Frame): Promise<void> {
    return this.#over ? Promise.reject(this.#over) : this.#link.send(frame);
  }

  /** Serves a request that the far end reports as still open, unless it is being served already. */
  redeliver(frame: unknown): void {
    this.#receive(readFrame(frame));
  }

  async #pump(): Promise<void> {
    // Frames may be queued already, and the constructor's caller does not have the channel yet.
    await Promise.resolve();
    try {
      const { frames } = this.#link;
      if (frames.drainTo) await frames.drainTo((frame) => this.#receive(readFrame(frame)));
      else for await (const frame of frames) this.#receive(readFrame(frame));
      this.#finish(
        new SdkError('closed', 'Query closed before response received'),
        this.#handlers.answersAfterEnd === true,
      );
    } catch (cause) {
      this.#finish(cause as Error);
      throw cause;
    }
  }

  #receive(incoming: Incoming): void {
    switch (incoming.kind) {
      case 'message':
        this.#handlers.message(incoming.message);
        break;
      case 'request':
        this.#serve(incoming.id, incoming.subtype, incoming.body);
        break;
      case 'response':
        this.#settle(incoming.id, incoming.outcome);
        break;
      case 'cancel':
        this.#cancelled(incoming.id);
        break;
      case 'keep-alive':
        break;
      case 'malformed':
        this.#handlers.fault?.(incoming.reason);
        if (incoming.id !== undefined) this.#post(failureFrame(incoming.id, incoming.reason));
    }
  }

  #serve(id: string, subtype: string, body: Frame): void {
    if (this.#serving.has(id)) return;
    const serving = new Serving(id, subtype, body, this.#answer);
    this.#serving.set(id, serving);
    try {
      const reply = this.#handlers.request(subtype, body, serving);
      if (reply instanceof Promise) {
        reply.then(
          (settled) => this.#served(serving, settled),
          (thrown) => this.#failed(serving, thrown),
        );
      } else {
        this.#served(serving, reply);
      }
    } catch (thrown) {
      this.#failed(serving, thrown);
    }
  }

  /** Marks the request as answered; false if it was cancelled or already answered. */
  #claim(serving: Serving): boolean {
    if (serving.isOver) return false;
    serving.isOver = true;
    return this.#serving.delete(serving.id);
  }

  readonly #answer = (serving: Serving, reply: Frame): void => this.#served(serving, reply);

  #served(serving: Serving, reply: Reply): void {
    if (reply === REPLIES_LATER || !this.#claim(serving) || reply === NO_REPLY) return;
    try {
      this.#post(successFrame(serving.id, reply));
    } catch (cause) {
      const instead = this.#handlers.replace?.(serving.subtype, serving.body, cause);
      this.#post(instead ? successFrame(serving.id, instead) : failureFrame(serving.id, messageOf(cause)));
    }
  }

  #failed(serving: Serving, thrown: unknown): void {
    if (!this.#claim(serving)) return;
    const code = thrown instanceof SdkError ? thrown.errorCode : undefined;
    this.#post(failureFrame(serving.id, messageOf(thrown), code));
  }

  /** Throws only if the frame cannot be serialized as JSON. */
  #post(frame: Frame): void {
    if (this.#over && !this.#handlers.answersAfterEnd) return;
    if (this.#link.post) this.#link.post(frame);
    else this.#link.send(frame).catch(() => {});
  }

  #settle(id: string, outcome: ResponseOutcome): void {
    const pending = this.#take(id);
    if (!pending) return;
    if (outcome.ok) pending.settle.resolve(outcome);
    else
      pending.settle.reject(new SdkError('control-failed', outcome.error, { errorCode: outcome.errorCode }));
  }

  #cancelled(id: string): void {
    const serving = this.#serving.get(id);
    this.#serving.delete(id);
    serving?.abort(new DOMException('The agent cancelled its request', 'AbortError'));
  }

  #limit(id: string, pending: Pending, { timeoutMs, signal }: RequestOptions): void {
    const giveUp = (reason: unknown) => {
      this.#post(cancelFrame(id));
      this.#reject(id, reason as Error);
    };
    const timer =
      timeoutMs === undefined
        ? undefined
        : startTimer(timeoutMs, () => {
            giveUp(
              new SdkError('timeout', `The agent did not answer "${pending.subtype}" within ${timeoutMs} ms`),
            );
          });
    const onAbort = () => giveUp(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    pending.stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
  }

  #reject(id: string, reason: Error): void {
    this.#take(id)?.settle.reject(reason);
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.stop();
    return pending;
  }

  #finish(reason: Error, keepsServing = false): void {
    this.#over = reason;
    for (const id of [...this.#pending.keys()]) this.#reject(id, reason);
    if (keepsServing) return;
    for (const serving of this.#serving.values()) serving.abort(reason);
    this.#serving.clear();
  }
}

type RequestOptions = { timeoutMs?: number | undefined; signal?: AbortSignal | undefined };

function linkFault(cause: unknown): SdkError {
  if (cause instanceof SdkError) return cause;
  return new SdkError('closed', `The agent no longer accepts input: ${messageOf(cause)}`, { cause });
}

/** A request of the far end while it is being served. */
export type ServedRequest = {
  readonly id: string;
  /** Aborts when the far end cancels its request or the channel ends. */
  readonly signal: AbortSignal;
  /** Answers the request, for a handler that returned `REPLIES_LATER`; once. */
  reply(response: Frame): void;
};

/** The abort signal is created on first access, since most handlers do not use it. */
class Serving implements ServedRequest {
  readonly id: string;
  readonly subtype: string;
  readonly body: Frame;
  /** Whether the request was answered or cancelled. */
  isOver = false;
  readonly #answer: (serving: Serving, response: Frame) => void;
  #controller: AbortController | undefined;
  #reason: { reason: unknown } | undefined;

  /** `answer` is shared by all requests of a channel, so that a request needs no closure of its own. */
  constructor(id: string, subtype: string, body: Frame, answer: (serving: Serving, response: Frame) => void) {
    this.id = id;
    this.subtype = subtype;
    this.body = body;
    this.#answer = answer;
  }

  reply(response: Frame): void {
    this.#answer(this, response);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason) this.#controller.abort(this.#reason.reason);
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.isOver = true;
    this.#reason = { reason };
    this.#controller?.abort(reason);
  }
}
