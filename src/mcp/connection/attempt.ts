import { startTimer } from '../../base/timer.ts';

/** Ends with the caller's signal or its own time, whichever comes first. */
export class Attempt implements Disposable {
  readonly limitMs: number;
  readonly #controller = new AbortController();
  readonly #ended = Promise.withResolvers<never>();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal;

  constructor(limitMs: number, caller: AbortSignal) {
    this.limitMs = limitMs;
    this.#caller = caller;
    this.#ended.promise.catch(() => {});
    this.#timer = startTimer(limitMs, this.#end);
    caller.addEventListener('abort', this.#end);
    if (caller.aborted) this.#end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects when the attempt is over, never resolves. */
  get ended(): Promise<never> {
    return this.#ended.promise;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => {
    this.#controller.abort();
    this.#ended.reject(this.#controller.signal.reason);
  };
}
