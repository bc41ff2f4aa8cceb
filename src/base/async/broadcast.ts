import { Queue } from './queue.ts';

/** Limit of unread events for slow readers, and the event that replaces dropped ones. */
export type Backlog<T> = {
  /** With this many unread events, minor events are dropped. */
  readonly limit: number;
  isMinor(event: T): boolean;
  /** The event delivered in place of `count` dropped ones. */
  dropped(count: number): T;
};

/** The unread events of one `for await` loop, and how many minor ones were dropped. */
type Reader<T> = { readonly events: Queue<T>; dropped: number };

/** Delivers events to listener functions and to `for await` loops, from the time they subscribe. A listener that throws does not affect others. */
export class Broadcast<T> implements AsyncIterable<T> {
  readonly #listeners = new Set<(event: T) => void>();
  readonly #readers = new Set<Reader<T>>();
  readonly #backlog: Backlog<T> | undefined;
  #isOver = false;

  constructor(backlog?: Backlog<T>) {
    this.#backlog = backlog;
  }

  /** Disposing of the result removes the listener. */
  on(listener: (event: T) => void): Disposable {
    if (typeof listener !== 'function') throw new TypeError('on() requires a listener function');
    if (!this.#isOver) this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  emit(event: T): void {
    const { limit = Number.POSITIVE_INFINITY, isMinor } = this.#backlog ?? {};
    for (const reader of this.#readers) {
      if (reader.events.unread >= limit && isMinor?.(event)) reader.dropped++;
      else reader.events.push(event);
    }
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

  /** Ends every loop after the events that were emitted before; a loop that starts later ends at once. */
  end(): void {
    this.#isOver = true;
    for (const { events } of this.#readers) events.end();
    this.#listeners.clear();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    if (this.#isOver) return;
    const reader: Reader<T> = { events: new Queue<T>(), dropped: 0 };
    this.#readers.add(reader);
    try {
      for await (const event of reader.events) {
        yield event;
        const { dropped } = reader;
        if (dropped === 0 || reader.events.unread > 0) continue;
        reader.dropped = 0;
        if (this.#backlog) yield this.#backlog.dropped(dropped);
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

function warn(fault: unknown): void {
  process.emitWarning(fault instanceof Error ? fault : new Error(`A listener failed: ${String(fault)}`));
}
