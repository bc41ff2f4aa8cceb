/** Items that are sent at once in one turn of the event loop; of more, only the latest of each key is kept. */
const MAX_BURST = 256;

/**
 * Sends news to a receiver that may be slow. While the receiver has room every item is sent at once; without room only
 * the latest item of each key is kept, and sent when there is room again, so that no flood fills the memory.
 */
export class Coalescer<T> {
  readonly #deliver: (item: T) => Promise<void> | undefined;
  readonly #latest = new Map<string, T>();
  #burst = 0;
  /** Resolves when the receiver has room again. */
  #room: Promise<void> | undefined;
  #nextTurn: PromiseWithResolvers<void> | undefined;
  /** The next turn came while the receiver had no room. */
  #isTurnDue = false;

  /** `deliver` sends one item; it gives a promise if the receiver has no room for more, settled when it has. */
  constructor(deliver: (item: T) => Promise<void> | undefined) {
    this.#deliver = deliver;
  }

  get isFull(): boolean {
    return this.#burst >= MAX_BURST || this.#room !== undefined;
  }

  /** Settles when there is room; undefined if there is. */
  get room(): Promise<void> | undefined {
    return this.isFull ? this.#nextTurn?.promise : undefined;
  }

  /** An item that may be replaced by a later one of the same key. */
  push(key: string, item: T): void {
    if (this.isFull) {
      // A later item takes a later place.
      this.#latest.delete(key);
      this.#latest.set(key, item);
    } else this.send(item);
  }

  /** An item that must arrive. */
  send(item: T): void {
    this.#burst++;
    const room = this.#deliver(item);
    if (room !== undefined && room !== this.#room) this.#await(room);
    if (this.#nextTurn) return;
    this.#nextTurn = Promise.withResolvers();
    setImmediate(this.#turn);
  }

  /** Sends what was kept back, whether there is room or not: something that must come after it follows. */
  flush(): void {
    if (this.#latest.size === 0) return;
    const kept = [...this.#latest.values()];
    this.#latest.clear();
    for (const item of kept) this.send(item);
  }

  /** A rejected promise means that the receiver is gone: items sent to it are lost, so it counts as having room. */
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
