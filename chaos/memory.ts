/** Measures the growth of this process's memory. */
export class Memory implements Disposable {
  readonly #before = process.memoryUsage.rss();
  #peak = this.#before;
  readonly #timer = setInterval(() => this.#look(), 20);

  /** The maximum growth so far, in MiB. */
  get grownMib(): number {
    this.#look();
    return Math.round((this.#peak - this.#before) / (1 << 20));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
  }
}
