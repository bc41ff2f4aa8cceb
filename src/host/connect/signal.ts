/** Something that happens to a connection, for whoever wants to hear of it. */
export class Signal {
  readonly #listeners = new Set<() => void>();

  /** Returns how to stop hearing. */
  readonly on = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  emit(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
