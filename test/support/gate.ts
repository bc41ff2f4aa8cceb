/** Blocks a handler until the test opens the gate; `reached` resolves once a handler waits. */
export type Gate<T> = {
  readonly reached: Promise<void>;
  pass(): Promise<T>;
  open(value: T): void;
};

export function gate<T = void>(): Gate<T> {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<T>();
  return {
    reached: reached.promise,
    pass() {
      reached.resolve();
      return opened.promise;
    },
    open: opened.resolve,
  };
}
