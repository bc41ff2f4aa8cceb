/** A request of the far end while it is being served. */
export type ServedRequest = {
  readonly id: string;
  /** Aborts when the far end takes its request back or the channel ends. */
  readonly signal: AbortSignal;
};

/** The abort signal is made only for handlers that ask for it. */
export class Serving implements ServedRequest {
  readonly id: string;
  #controller: AbortController | undefined;
  #reason: { reason: unknown } | undefined;

  constructor(id: string) {
    this.id = id;
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
