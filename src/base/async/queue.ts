/** For items of which only the latest per key matters to a slow reader. */
export type QueueCoalescing<T> = {
  /** With this many unread items, a new item replaces the unread one with the same key. */
  readonly limit: number;
  keyOf(item: T): string | undefined;
};

/**
 * A first-in-first-out queue that one consumer reads with `for await`; concurrent `next()` calls are served in order.
 * `end` and `fail` take effect after everything pushed before them.
 */
export class Queue<T> implements AsyncIterableIterator<T> {
  #items: (T | undefined)[] = [];
  #head = 0;
  #waiting: PromiseWithResolvers<IteratorResult<T>>[] = [];
  #finished: { error: unknown } | 'ended' | undefined;
  #drain: { take: (item: T) => void; done: PromiseWithResolvers<void> } | undefined;
  readonly #coalescing: QueueCoalescing<T> | undefined;
  /** How many items were removed from the front of `#items`. */
  #removed = 0;
  /** Positions of the latest unread items with a key, counted from the first item ever pushed. */
  readonly #places = new Map<string, number>();
  #room: { readonly limit: number; readonly reached: PromiseWithResolvers<void> } | undefined;

  /** Without `coalescing` every item is delivered. */
  constructor(coalescing?: QueueCoalescing<T>) {
    this.#coalescing = coalescing;
  }

  /** The number of unread items. */
  get unread(): number {
    return this.#items.length - this.#head;
  }

  /** Resolves when fewer than `limit` items are unread, or the reader has stopped. Concurrent callers share the first limit. */
  below(limit: number): Promise<void> {
    if (this.unread < limit) return Promise.resolve();
    this.#room ??= { limit, reached: Promise.withResolvers() };
    return this.#room.reached.promise;
  }

  /** Items pushed after `end` or `fail` are dropped. */
  push(item: T): void {
    if (this.#finished) return;
    if (this.#drain) {
      this.#handOver(item, this.#drain.take);
      return;
    }
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve({ done: false, value: item });
    else this.#keep(item);
  }

  end(): void {
    if (this.#finished) return;
    this.#finished = 'ended';
    this.#drain?.done.resolve();
    for (const waiting of this.#waiting.splice(0)) waiting.resolve({ done: true, value: undefined });
  }

  fail(error: unknown): void {
    if (this.#finished) return;
    const waiting = this.#drain?.done ?? this.#waiting.shift();
    if (waiting) {
      waiting.reject(error);
      this.end();
    } else {
      this.#finished = { error };
    }
  }

  /** Passes every item to `take`: unread items first, later ones synchronously when they are pushed. Replaces iterating. */
  async drainTo(take: (item: T) => void): Promise<void> {
    while (this.unread > 0) take(this.#shift());
    if (this.#finished === 'ended') return;
    if (this.#finished) throw this.#finished.error;
    const done = Promise.withResolvers<void>();
    this.#drain = { take, done };
    await done.promise;
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.unread > 0) return { done: false, value: this.#shift() };
    if (this.#finished === 'ended') return { done: true, value: undefined };
    if (this.#finished) {
      const { error } = this.#finished;
      this.#finished = 'ended';
      throw error;
    }
    const waiting = Promise.withResolvers<IteratorResult<T>>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  /** Leaving a `for await` loop early ends the queue and drops its items. */
  async return(): Promise<IteratorResult<T>> {
    this.end();
    this.#finished = 'ended';
    this.#items = [];
    this.#head = 0;
    this.#places.clear();
    this.#room?.reached.resolve();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** An exception of `take` ends the queue with that error. */
  #handOver(item: T, take: (item: T) => void): void {
    try {
      take(item);
    } catch (error) {
      this.fail(error);
    }
  }

  #keep(item: T): void {
    const key = this.#coalescing?.keyOf(item);
    if (key !== undefined && this.#coalescing) {
      const place = this.#places.get(key);
      if (place !== undefined && this.unread >= this.#coalescing.limit) {
        this.#items[place - this.#removed] = item;
        return;
      }
      this.#places.set(key, this.#removed + this.#items.length);
    }
    this.#items.push(item);
  }

  #shift(): T {
    const item = this.#items[this.#head] as T;
    const key = this.#coalescing?.keyOf(item);
    if (key !== undefined && this.#places.get(key) === this.#removed + this.#head) this.#places.delete(key);
    // Cleared so that a large item can be collected before the next compaction.
    this.#items[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#removed += this.#head;
      this.#head = 0;
    } else if (this.#head === this.#items.length) {
      this.#removed += this.#head;
      this.#items.length = 0;
      this.#head = 0;
    }
    if (this.#room && this.unread < this.#room.limit) {
      this.#room.reached.resolve();
      this.#room = undefined;
    }
    return item;
  }
}
