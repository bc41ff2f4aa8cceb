/** How one connection is told which resources to tell of. */
export type Watch = {
  /** Resolves once the server tells of `fresh` too; `all` is those and what it told of before. `signal` ends the wait for that. */
  begin(fresh: readonly string[], all: readonly string[], signal?: AbortSignal): Promise<void>;
  /** It need not tell of that any more; `rest` is what is left. */
  end(uri: string, rest: readonly string[]): Promise<void>;
  close(): void;
};

/** How long a server may take to say that it will tell. */
export const CONFIRM_MS = 30_000;
