/** How many items are sent in one turn of the event loop; of further items, only the latest of each key is kept. */
const MAX_BURST = 256;

/**
 * Sends updates to a receiver that may be slow. While the receiver has room, every item is sent immediately. Otherwise only
 * the latest item of each key is kept and sent when there is room again, which bounds the memory use.
 */
export class Coalescer<T> {
  readonly #deliver: (item: T) => Promise<void> | undefined;
  readonly #latest = new Map<string, T>();
  #burst = 0;
  /** Resolves when the receiver has room again. */
  #room: Promise<void> | undefined;
  #nextTurn: PromiseWithResolvers<void> | undefined;
  /** Whether a turn of the event loop has passed while the receiver had no room. */
  #isTurnDue = false;

  /** `deliver` sends one item; it returns a promise if the receiver has no room for more, settled when it has. */
  constructor(deliver: (item: T) => Promise<void> | undefined) {
    this.#deliver = deliver;
  }

  get isFull(): boolean {
    return this.#burst >= MAX_BURST || this.#room !== undefined;
  }

  /** Settles when there is room; undefined if there is room now. */
  get room(): Promise<void> | undefined {
    return this.isFull ? this.#nextTurn?.promise : undefined;
  }

  /** Sends an item that a later one of the same key may replace. */
  push(key: string, item: T): void {
    if (this.isFull) {
      // Set again, so that the item moves to the end.
      this.#latest.delete(key);
      this.#latest.set(key, item);
    } else this.send(item);
  }

  /** Sends an item that must not be dropped. */
  send(item: T): void {
    this.#burst++;
    const room = this.#deliver(item);
    if (room !== undefined && room !== this.#room) this.#await(room);
    if (this.#nextTurn) return;
    this.#nextTurn = Promise.withResolvers();
    setImmediate(this.#turn);
  }

  /** Sends the kept items regardless of room. Call it before sending something that must come after them. */
  flush(): void {
    if (this.#latest.size === 0) return;
    const kept = [...this.#latest.values()];
    this.#latest.clear();
    for (const item of kept) this.send(item);
  }

  /** A rejected promise means that the receiver has closed; it then counts as having room. */
  #await(room: Promise<void>): void {
    this.#room = room;
    const settled = () => {
      if (this.#room !== room) return;
      this.#room = undefined;
      if (this.#isTurnDue) this.#turn();
    };
    room.then(settled, settled);
  }

  readonly #turn = (): void => {
    this.#isTurnDue = this.#room !== undefined;
    if (this.#isTurnDue) return;
    this.#burst = 0;
    this.#nextTurn?.resolve();
    this.#nextTurn = undefined;
    this.flush();
  };
}
