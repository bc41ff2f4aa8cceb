/** Counts what a listener hears; `next()` settles when it hears of something it has not been waited for yet. */
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
