import type { HostOptions, HostServerEntry } from '../../../../src/entry/host.ts';

/** A server of the contract as a host is told of it, and the hands a test has on it. */
export type Far = AsyncDisposable & {
  readonly entry: HostServerEntry;
  /** What the host must know beside the entry. */
  readonly options?: Pick<HostOptions, 'env' | 'cwd'>;
  /** Ends the server without a word; a process is gone then, a port refuses. */
  stop(): Promise<void>;
  /** Starts it again where it was, with no memory. Processes are started by the host. */
  revive(): Promise<void>;
  /** Cuts every connection; the server itself and what it remembers stay. */
  cut(): void;
  /** From now on the server requires the token. */
  lock(): void;
  /** How many connections or processes of clients it has. */
  left(): number | Promise<number>;
};

/** One way to reach the contract server. */
export type SetUp = {
  readonly name: SetUpName;
  readonly era: 'legacy' | 'modern';
  start(): Promise<Far>;
};

export type SetUpName =
  | 'stdio legacy'
  | 'stdio modern'
  | 'http legacy'
  | 'http modern'
  | 'sse'
  | 'ws legacy'
  | 'ws modern'
  | 'ws-ide'
  | 'sse-ide'
  | 'url that speaks http'
  | 'url that speaks sse'
  | 'sdk own'
  | 'sdk McpServer v1'
  | 'sdk factory v2';
