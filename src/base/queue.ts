/**
 * An unbounded first-in-first-out that one consumer drains with `for await`; several `next()` at once are served in turn.
 * `end` and `fail` take effect after everything pushed before them.
 */
export class Queue<T> implements AsyncIterableIterator<T> {
  #items: (T | undefined)[] = [];
  #head = 0;
  #waiting: PromiseWithResolvers<IteratorResult<T>>[] = [];
  #finished: { error: unknown } | 'ended' | undefined;
  #drain: { take: (item: T) => void; done: PromiseWithResolvers<void> } | undefined;

  /** Items pushed after `end` or `fail` are dropped. */
  push(item: T): void {
    if (this.#finished) return;
    if (this.#drain) {
      this.#handOver(item, this.#drain.take);
      return;
    }
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve({ done: false, value: item });
    else this.#items.push(item);
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

  /** Hands every item to `take`, those that wait first, the others at once when they are pushed. Instead of iterating, not beside it. */
  async drainTo(take: (item: T) => void): Promise<void> {
    while (this.#head < this.#items.length) take(this.#shift());
    if (this.#finished === 'ended') return;
    if (this.#finished) throw this.#finished.error;
    const done = Promise.withResolvers<void>();
    this.#drain = { take, done };
    await done.promise;
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#items.length) return { done: false, value: this.#shift() };
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

  /** Leaving a `for await` early ends the queue and frees what it held. */
  async return(): Promise<IteratorResult<T>> {
    this.end();
    this.#finished = 'ended';
    this.#items = [];
    this.#head = 0;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** A taker that throws ends the queue with what it threw, as a loop over it would. */
  #handOver(item: T, take: (item: T) => void): void {
    try {
      take(item);
    } catch (error) {
      this.fail(error);
    }
  }

  #shift(): T {
    const item = this.#items[this.#head] as T;
    // A large item must not live on until the next tidying.
    this.#items[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    } else if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    }
    return item;
  }
}
