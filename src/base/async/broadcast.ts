/** Limit of unread events for slow readers, and the event that replaces dropped ones. */
export type Backlog<T> = {
  /** With this many unread events, minor events are dropped. */
  readonly limit: number;
  isMinor(event: T): boolean;
  /** The event delivered in place of `count` dropped ones. */
  dropped(count: number): T;
};

/** Delivers events to listener functions and to `for await` loops, from the time they subscribe. A listener that throws does not affect others. */
export class Broadcast<T> implements AsyncIterable<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #readers = new Set<Reader<T>>();
  readonly #backlog: Backlog<T> | undefined;
  #isOver = false;

  constructor(backlog?: Backlog<T>) {
    this.#backlog = backlog;
  }

  /** Stops with `using`, or by `[Symbol.dispose]()`. */
  on(listener: (event: T) => void): Disposable {
    if (typeof listener !== 'function') throw new TypeError('on() takes a listener function');
    if (!this.#isOver) this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  emit(event: T): void {
    for (const reader of this.#readers) reader.push(event);
    for (const listener of [...this.#listeners]) {
      try {
        const given: unknown = listener(event);
        // An asynchronous listener fails later.
        if (given instanceof Promise) given.catch(warn);
      } catch (fault) {
        warn(fault);
      }
    }
  }

  /** Ends every iteration once it has seen what came before; one that begins later ends at once. */
  end(): void {
    this.#isOver = true;
    for (const reader of this.#readers) reader.end();
    this.#listeners.clear();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    if (this.#isOver) return;
    const reader = new Reader(this.#backlog);
    this.#readers.add(reader);
    try {
      yield* reader.read();
    } finally {
      this.#readers.delete(reader);
    }
  }
}

function warn(fault: unknown): void {
  process.emitWarning(fault instanceof Error ? fault : new Error(`A listener failed: ${String(fault)}`));
}

/** What one iteration has not read yet. */
class Reader<T> {
  readonly #backlog: Backlog<T> | undefined;
  #unread: T[] = [];
  #dropped = 0;
  #isOver = false;
  #wake = Promise.withResolvers<void>();

  constructor(backlog: Backlog<T> | undefined) {
    this.#backlog = backlog;
  }

  push(event: T): void {
    const { limit = Number.POSITIVE_INFINITY, isMinor } = this.#backlog ?? {};
    if (this.#unread.length >= limit && isMinor?.(event)) this.#dropped++;
    else this.#unread.push(event);
    this.#wake.resolve();
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *read(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      for (let event = this.#unread.shift(); event !== undefined; event = this.#unread.shift()) yield event;
      if (this.#dropped > 0 && this.#backlog) {
        const count = this.#dropped;
        this.#dropped = 0;
        yield this.#backlog.dropped(count);
      }
      if (this.#unread.length > 0) continue;
      if (this.#isOver) return;
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }
}
