import type { HostOptions, HostServerEntry } from '../../../../src/entry/host.ts';

/** A contract server: its entry for the host, and the controls for the test. */
export type Far = AsyncDisposable & {
  readonly entry: HostServerEntry;
  /** Options that the host needs besides the entry. */
  readonly options?: Pick<HostOptions, 'env' | 'cwd'>;
  /** Ends the server abruptly: the process has exited then, or the port refuses connections. */
  stop(): Promise<void>;
  /** Starts the server again at the same place without its earlier state. Processes are started by the host. */
  revive(): Promise<void>;
  /** Closes every connection; the server and its state remain. */
  cut(): void;
  /** From now on the server requires the token. */
  lock(): void;
  /** The number of open client connections or running processes. */
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
