import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { startTimer } from '../../../base/async/timers.ts';
import { armKillOnDeath, killOnDeath } from '../../../base/process/kill-on-death.ts';
import {
  ProcessGroup,
  type Terminable,
  type TerminationSignal,
  terminate,
} from '../../../base/process/process-group.ts';

/** A command with its arguments and environment. */
export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** The steps of the termination; a system that lacks one omits it. */
export type EndSignal = TerminationSignal;

/** A child process whose three streams are pipes. */
export type PipedChild = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

/** A running server process with its descendants. */
export type ServerProcess = {
  readonly child: PipedChild;
  /** Signals all of them. Does nothing after `release`, when the process id may be reused. */
  signal(signal: EndSignal): void;
  isRunning(): boolean;
  isGone(withinMs: number): Promise<boolean>;
  /** The whole process group is gone, so the watchdog can forget it. */
  release(): void;
};

/** How one operating system starts and ends processes. */
export type Processes = {
  /** Rejects as `spawn` does, with `code` and `syscall`. */
  start(command: Command): Promise<ServerProcess>;
};

/** Rejects if the child could not be started. */
export async function started(child: ChildProcess): Promise<PipedChild> {
  // A started child has a pid at once; the error of a failed start follows later.
  if (child.pid === undefined) {
    const { promise, reject } = Promise.withResolvers<never>();
    child.once('error', reject);
    return promise;
  }
  // A signal that cannot be sent is ignored; the sender checks whether the process ended.
  child.on('error', () => {});
  return child as PipedChild;
}

/** Each server leads a process group, which contains everything it starts. */
export const POSIX_PROCESSES: Processes = {
  async start({ command, args, env, cwd }) {
    // The watchdog starts first, so that nothing is left behind even if the host is killed right after the start.
    const disarm = armKillOnDeath();
    try {
      const child = spawn(command, args, { env, cwd, detached: true, stdio: 'pipe' });
      const release = child.pid === undefined ? () => {} : killOnDeath(-child.pid, 'gently');
      const piped = await started(child);
      return groupOf(piped, new ProcessGroup(piped.pid as number), release);
    } finally {
      disarm();
    }
  },
};

function groupOf(child: ServerProcess['child'], group: ProcessGroup, release: () => void): ServerProcess {
  let isReleased = false;
  return {
    child,
    signal(signal) {
      if (!isReleased) group.signal(signal);
    },
    isRunning: () => !isReleased && group.isRunning(),
    isGone: async (withinMs) => isReleased || group.isGone(withinMs),
    release() {
      isReleased = true;
      release();
    },
  };
}

/** Time for each step to take effect. */
const STEP_MS = 500;
/** Time for killed processes to disappear. */
const LAST_MS = 1000;

/**
 * Ends a server and all processes it started: closes its stdin, then sends SIGINT, SIGTERM and SIGKILL to its group.
 * Resolves when all of them have ended.
 */
export async function endProcess(process: ServerProcess): Promise<void> {
  let isSignalled = false;
  const target: Terminable = {
    endInput: () => process.child.stdin.end(),
    signal(signal) {
      isSignalled = true;
      // Processes that outlive the server do not read its stdin, so the SIGINT step is skipped for them.
      process.signal(signal === 'SIGINT' && hasExited(process) ? 'SIGTERM' : signal);
    },
    async isGone(withinMs) {
      await exitOf(process, withinMs);
      return !process.isRunning() || (isSignalled && hasExited(process) && (await process.isGone(withinMs)));
    },
  };
  await terminate(target, { signals: ['SIGINT', 'SIGTERM', 'SIGKILL'], graceMs: STEP_MS, killMs: LAST_MS });
  process.release();
}

function hasExited({ child }: ServerProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits for the leader only, whose exit is an event. */
async function exitOf(process: ServerProcess, withinMs: number): Promise<void> {
  if (hasExited(process)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = startTimer(withinMs, resolve);
  process.child.once('exit', resolve);
  await promise;
  clearTimeout(timer);
  process.child.off('exit', resolve);
}
