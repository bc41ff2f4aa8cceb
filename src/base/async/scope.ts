/** Owns opened resources and closes them in reverse order; `keep` transfers the ownership to the caller. */
export class Scope implements AsyncDisposable {
  #closers: (() => unknown)[] = [];

  /** Registers a value to be closed by `close` with the scope, and returns it. */
  own<T>(value: T, close: (value: T) => unknown): T {
    this.#closers.push(() => close(value));
    return value;
  }

  /** Moves all resources to a new scope, which the caller owns; this scope closes nothing any more. */
  keep(): Scope {
    const kept = new Scope();
    kept.#closers = this.#closers;
    this.#closers = [];
    return kept;
  }

  /** Closes every resource even if some fail to close; rethrows the first failure at the end. */
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
