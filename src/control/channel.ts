import { randomUUID } from 'node:crypto';
import { startTimer } from '../base/timer.ts';
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
import { type ServedRequest, Serving } from './serving.ts';

export type { ServedRequest } from './serving.ts';

/** Somebody else answers this request, out of band. */
export const NO_REPLY: unique symbol = Symbol('no reply');

export type Reply = Frame | undefined | typeof NO_REPLY;

export type ChannelHandlers = {
  /** Serves one request; what it throws becomes the failure reply. Requests are served concurrently. */
  request(subtype: string, body: Frame, served: ServedRequest): Promise<Reply>;
  /** Every frame that is not the protocol's own. */
  message(message: Frame): void;
  /** A reply that cannot be written as JSON: what to say instead, or nothing for a plain failure. */
  replace?(subtype: string, body: Frame, cause: unknown): Frame | undefined;
  /** Frames that could not be read, for whoever debugs. */
  fault?(reason: string): void;
};

export type ControlAnswer = { response: Frame; extra: Frame };

type Pending = { subtype: string; settle: PromiseWithResolvers<ControlAnswer>; stop: () => void };

/** Both directions of the control protocol over one link: every request is answered exactly once. */
export class ControlChannel {
  readonly #link: AgentLink;
  readonly #handlers: ChannelHandlers;
  readonly #pending = new Map<string, Pending>();
  readonly #serving = new Map<string, Serving>();
  readonly #idPrefix = Math.random().toString(36).slice(2, 8);
  #nextId = 0;
  #over: Error | undefined;
  /** Settles when the link is over: resolves if it ended as expected, rejects if it died. */
  readonly done: Promise<void>;

  constructor(link: AgentLink, handlers: ChannelHandlers) {
    this.#link = link;
    this.#handlers = handlers;
    this.done = this.#pump();
    // Whoever needs it waits for it; the rest learns of a death by their own requests.
    this.done.catch(() => {});
  }

  /** Asks the far end. Rejects on its failure, on `timeoutMs`, on abort (the far end is told), and at once when the link dies. */
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

  /** A request whose acknowledgement nobody waits for. Never throws: what cannot be sent is a fault. */
  post(body: Frame): void {
    if (this.#over) return;
    try {
      this.#link.send({ type: 'control_request', request_id: randomUUID(), request: body }).catch(() => {});
    } catch (cause) {
      this.#handlers.fault?.(messageOf(cause));
    }
  }

  /** Any other frame, in order with the rest. */
  send(frame: Frame): Promise<void> {
    return this.#over ? Promise.reject(this.#over) : this.#link.send(frame);
  }

  /** A request the far end reported as still open, met a second time or late: served unless it already is. */
  redeliver(frame: unknown): void {
    this.#receive(readFrame(frame));
  }

  async #pump(): Promise<void> {
    try {
      for await (const frame of this.#link.frames) this.#receive(readFrame(frame));
      this.#finish(new SdkError('closed', 'The agent closed the conversation'));
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
        if (incoming.id !== undefined) this.#reply(failureFrame(incoming.id, incoming.reason));
    }
  }

  #serve(id: string, subtype: string, body: Frame): void {
    if (this.#serving.has(id)) return;
    const serving = new Serving(id);
    this.#serving.set(id, serving);
    const finish = (frame: () => Frame | undefined) => {
      // Taken back meanwhile: nobody waits for the answer any more.
      if (this.#serving.get(id) !== serving) return;
      this.#serving.delete(id);
      const reply = frame();
      if (reply) this.#reply(reply, subtype, body);
    };
    const serve = async () => this.#handlers.request(subtype, body, serving);
    serve().then(
      (reply) => finish(() => (reply === NO_REPLY ? undefined : successFrame(id, reply))),
      (thrown) =>
        finish(() =>
          failureFrame(id, messageOf(thrown), thrown instanceof SdkError ? thrown.errorCode : undefined),
        ),
    );
  }

  #reply(frame: Frame, subtype?: string, body: Frame = {}): void {
    if (this.#over) return;
    try {
      this.#link.send(frame).catch(() => {});
    } catch (cause) {
      const id = (frame.response as { request_id: string }).request_id;
      const instead = subtype && this.#handlers.replace?.(subtype, body, cause);
      this.#link
        .send(instead ? successFrame(id, instead) : failureFrame(id, messageOf(cause)))
        .catch(() => {});
    }
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
    serving?.abort(new DOMException('The agent took its request back', 'AbortError'));
  }

  #limit(id: string, pending: Pending, { timeoutMs, signal }: RequestOptions): void {
    const giveUp = (reason: unknown) => {
      if (!this.#over) this.#link.send(cancelFrame(id)).catch(() => {});
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

  #finish(reason: Error): void {
    this.#over = reason;
    for (const id of [...this.#pending.keys()]) this.#reject(id, reason);
    for (const serving of this.#serving.values()) serving.abort(reason);
    this.#serving.clear();
  }
}

export type RequestOptions = { timeoutMs?: number | undefined; signal?: AbortSignal | undefined };

function linkFault(cause: unknown): SdkError {
  if (cause instanceof SdkError) return cause;
  return new SdkError('closed', `The agent takes no more input: ${messageOf(cause)}`, { cause });
}
