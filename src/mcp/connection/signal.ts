/** Something that happens to a connection, for whoever wants to hear of it. */
export class Signal<Facts extends unknown[] = []> {
  readonly #listeners = new Set<(...facts: Facts) => void>();

  /** Returns how to stop hearing. */
  readonly on = (listener: (...facts: Facts) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A listener that throws harms no other, nor whoever brought the message. */
  emit(...facts: Facts): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...facts);
      } catch {}
    }
  }
}
