/** Insertions after which the map is rebuilt. */
const RENEW_AFTER = 512;

/**
 * A map for short-lived entries. V8 links each outgrown backing table of a `Map` to its successor, so that one table in
 * the old generation keeps all later ones from being collected young; rebuilding the map now and then breaks that chain.
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
