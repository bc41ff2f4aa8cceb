/** A door a handler waits at until the test opens it; `reached` resolves once somebody waits. */
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
