import type { Frame } from '../protocol/control-frame.ts';

/** A request of the far end while it is being served. */
export type ServedRequest = {
  readonly id: string;
  /** Aborts when the far end takes its request back or the channel ends. */
  readonly signal: AbortSignal;
  /** Answers the request, for a handler that returned `REPLIES_LATER`; once. */
  reply(response: Frame): void;
};

/** The abort signal is made only for handlers that ask for it. */
export class Serving implements ServedRequest {
  readonly id: string;
  readonly subtype: string;
  readonly body: Frame;
  /** Answered or taken back: nobody waits for it any more. */
  isOver = false;
  readonly #answer: (serving: Serving, response: Frame) => void;
  #controller: AbortController | undefined;
  #reason: { reason: unknown } | undefined;

  /** `answer` is one function for all requests of a channel. */
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
