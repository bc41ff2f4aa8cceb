import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** What is run, and in which surroundings. */
export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** The steps from asking to making; a system without one of them leaves it out. */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

/** A child with all three streams as pipes. */
export type PipedChild = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

/** A server process that runs, and what it started. */
export type ServerProcess = {
  readonly child: PipedChild;
  /** Reaches all of them. Does nothing once `release` was called: the number may be another program's by then. */
  signal(signal: EndSignal): void;
  isRunning(): boolean;
  isGone(withinMs: number): Promise<boolean>;
  /** All of it is gone: nobody need watch it any more. */
  release(): void;
};

/** How one kind of system runs and ends processes. */
export type Processes = {
  /** Rejects as `spawn` fails, with its `code` and `syscall`. */
  start(command: Command): Promise<ServerProcess>;
};

/** Rejects if the child could not be started. */
export async function started(child: ChildProcess): Promise<PipedChild> {
  // The process is there as soon as it has a number; why it has none is told a moment later.
  if (child.pid === undefined) {
    const { promise, reject } = Promise.withResolvers<never>();
    child.once('error', reject);
    return promise;
  }
  // A signal that cannot be sent is nobody's fault: whoever sends it looks whether it had effect.
  child.on('error', () => {});
  return child as PipedChild;
}
