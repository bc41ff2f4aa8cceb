import { Queue } from './queue.ts';

/** Events for whoever listens: by a function, or by `for await` from then on. A listener that throws harms no other. */
export class Broadcast<T> implements AsyncIterable<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #queues = new Set<Queue<T>>();
  readonly #onFault: (fault: unknown) => void;

  constructor(onFault: (fault: unknown) => void = () => {}) {
    this.#onFault = onFault;
  }

  /** Stops with `using`, or by `[Symbol.dispose]()`. */
  on(listener: (event: T) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  emit(event: T): void {
    for (const queue of this.#queues) queue.push(event);
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (fault) {
        this.#onFault(fault);
      }
    }
  }

  /** Ends every iteration once it has seen what came before. */
  end(): void {
    for (const queue of this.#queues) queue.end();
    this.#listeners.clear();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const queue = new Queue<T>();
    this.#queues.add(queue);
    try {
      yield* queue;
    } finally {
      this.#queues.delete(queue);
    }
  }
}
