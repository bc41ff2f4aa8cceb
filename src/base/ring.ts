/** Keeps the last `capacity` lines of a noisy source, each cut at `width` characters. */
export class LineRing {
  readonly #capacity: number;
  readonly #width: number;
  #lines: string[] = [];

  constructor(capacity: number, width: number) {
    this.#capacity = capacity;
    this.#width = width;
  }

  push(line: string): void {
    this.#lines.push(line.length > this.#width ? `${line.slice(0, this.#width)}…` : line);
    if (this.#lines.length > this.#capacity) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}
