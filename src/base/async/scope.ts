/** Owns what was opened and closes it newest first, on any throw; `keep` hands the ownership to the caller. */
export class Scope implements AsyncDisposable {
  #closers: (() => unknown)[] = [];

  /** Returns the value, to be closed by `close` with the scope. */
  own<T>(value: T, close: (value: T) => unknown): T {
    this.#closers.push(() => close(value));
    return value;
  }

  /** The caller owns everything from here on; this scope closes nothing any more. */
  keep(): Scope {
    const kept = new Scope();
    kept.#closers = this.#closers;
    this.#closers = [];
    return kept;
  }

  /** Closes all, whatever single closers throw; the first failure is rethrown at the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
