import type { Readable, Writable } from 'node:stream';

/** What a link needs of a process: `ChildProcess` fits, and so does whatever starts the agent in a container or elsewhere. */
export interface SpawnedProcess {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  once(event: 'error', listener: (error: Error) => void): void;
  off(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  off(event: 'error', listener: (error: Error) => void): void;
}

/** What a custom spawner is given. */
export type SpawnRequest = {
  command: string;
  args: string[];
  cwd?: string | undefined;
  env: { [name: string]: string | undefined };
  /** Aborts only after the gentle ending had its time. */
  signal: AbortSignal;
};
