/** Keeps the beginning and the end of a text that comes in pieces; however long it gets, memory stays bounded. */
export class HeadTail {
  readonly #half: number;
  #head = '';
  #tail = '';
  #leftOut = 0;

  /** `capacity` in characters, half of it for each end. */
  constructor(capacity: number) {
    this.#half = Math.floor(capacity / 2);
  }

  push(piece: string): void {
    const room = this.#half - this.#head.length;
    this.#head += piece.slice(0, room);
    this.#tail += piece.slice(room);
    // Not at every piece: many small ones would each copy the whole tail.
    if (this.#tail.length > this.#half * 2) this.#trim();
  }

  toString(): string {
    this.#trim();
    if (this.#leftOut === 0) return this.#head + this.#tail;
    const note = `[${this.#leftOut} characters were left out here]`;
    return `${this.#head}\n\n${note}\n\n${this.#tail}`.toWellFormed();
  }

  #trim(): void {
    const excess = this.#tail.length - this.#half;
    if (excess <= 0) return;
    this.#leftOut += excess;
    this.#tail = this.#tail.slice(excess);
  }
}
