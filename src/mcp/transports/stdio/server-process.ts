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

/** What is run, and in which surroundings. */
export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** The steps from asking to making; a system without one of them leaves it out. */
export type EndSignal = TerminationSignal;

/** A child with all three streams as pipes. */
export type PipedChild = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

/** A server process that runs, and what it started. */
export type ServerProcess = {
  readonly child: PipedChild;
  /** Reaches all of them. Does nothing once `release` was called: the number may be another program's by then. */
  signal(signal: EndSignal): void;
  isRunning(): boolean;
  isGone(withinMs: number): Promise<boolean>;
  /** The whole process group is gone, so the watchdog can forget it. */
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
  // A signal that cannot be sent is ignored; the sender checks whether the process ended.
  child.on('error', () => {});
  return child as PipedChild;
}

/** Each server leads a process group, by which everything it started is reached. */
export const POSIX_PROCESSES: Processes = {
  async start({ command, args, env, cwd }) {
    // Who watches is there first: a host that is killed right after the start leaves nothing either.
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

/** What each step gets to have effect. */
const STEP_MS = 500;
/** What was made to end is gone as soon as the system gets to it. */
const LAST_MS = 1000;

/**
 * Ends a server and all processes it started: ends its input, then sends SIGINT, SIGTERM and SIGKILL to its group.
 * Resolves when nothing of it is left.
 */
export async function endProcess(process: ServerProcess): Promise<void> {
  let isSignalled = false;
  const target: Terminable = {
    endInput: () => process.child.stdin.end(),
    signal(signal) {
      isSignalled = true;
      // Processes that outlive the server do not wait for its input: SIGINT would be one step too gentle.
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

/** Waits for the leader only, whose end is an event. */
async function exitOf(process: ServerProcess, withinMs: number): Promise<void> {
  if (hasExited(process)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = startTimer(withinMs, resolve);
  process.child.once('exit', resolve);
  await promise;
  clearTimeout(timer);
  process.child.off('exit', resolve);
}
