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
  readonly reply: (response: Frame) => void;
  #controller: AbortController | undefined;
  #reason: { reason: unknown } | undefined;

  constructor(id: string, reply: (response: Frame) => void) {
    this.id = id;
    this.reply = reply;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason) this.#controller.abort(this.#reason.reason);
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#reason = { reason };
    this.#controller?.abort(reason);
  }
}
