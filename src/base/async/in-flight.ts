/** How many entries come before the table is made anew. */
const RENEW_AFTER = 512;

/**
 * A map for what comes and goes all the time. An engine links every outgrown table of a `Map` to its successor, so one
 * that reached the old generation keeps all that came after it from being freed young; a new map now and then cuts that chain.
 */
export class InFlight<Key, Value> {
  #entries = new Map<Key, Value>();
  #came = 0;

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    if (++this.#came > RENEW_AFTER + this.#entries.size) {
      this.#entries = new Map(this.#entries);
      this.#came = 0;
    }
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]();
  }
}
