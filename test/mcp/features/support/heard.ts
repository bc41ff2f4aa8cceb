/** Counts the calls of a listener; `next()` settles at the next call that no earlier `next()` has waited for. */
export class Heard {
  count = 0;
  #seen = 0;
  #wake = Promise.withResolvers<void>();

  readonly listener = (): void => {
    this.count++;
    this.#wake.resolve();
  };

  async next(): Promise<void> {
    while (this.count <= this.#seen) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
    this.#seen++;
  }
}
