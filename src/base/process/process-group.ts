import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 1000;
/** Time for the system to remove killed processes. */
const LAST_MS = 300;
/** The first and the maximum interval of polling, which starts fast since most groups end at once. */
const FIRST_LOOK_MS = 2;
const LOOK_EVERY_MS = 25;

/** A process group leader and all processes in its group. A process that left the group, as with `setsid` or `set -m`, is not included. */
export class ProcessGroup {
  readonly leader: number;
  /** Members that ran at the last check. While one of them runs, /proc need not be scanned. */
  #known: readonly string[];

  constructor(leader: number) {
    this.leader = leader;
    this.#known = [String(leader)];
  }

  /** Sends a signal to the group; false if the group has no members left. */
  signal(signal: TerminationSignal | 0): boolean {
    try {
      return process.kill(process.platform === 'win32' ? this.leader : -this.leader, signal);
    } catch (thrown) {
      // EPERM: a member runs as another user. It exists, but cannot be signalled.
      return (thrown as NodeJS.ErrnoException).code === 'EPERM';
    }
  }

  /**
   * Zombies do not count as running where /proc shows them: the init process of a container may reap them late or
   * never.
   */
  isRunning(): boolean {
    if (!this.signal(0)) return false;
    if (this.#known.some((id) => this.#has(id) === 'running')) return true;
    const members = processes().filter((id) => this.#has(id) !== undefined);
    this.#known = members.filter((id) => this.#has(id) === 'running');
    return members.length === 0 || this.#known.length > 0;
  }

  async isGone(withinMs: number): Promise<boolean> {
    for (let waited = 0, pause = FIRST_LOOK_MS; waited < withinMs; waited += pause) {
      if (!this.isRunning()) return true;
      await delay(pause);
      pause = Math.min(2 * pause, LOOK_EVERY_MS);
    }
    return !this.isRunning();
  }

  /** Sends SIGTERM to the group, and SIGKILL a second later to what is left of it. */
  async end(): Promise<void> {
    await terminate(this, { signals: ['SIGTERM', 'SIGKILL'], graceMs: GRACE_MS, killMs: LAST_MS });
  }

  #has(id: string): 'running' | 'ended' | undefined {
    // The fields after the name, which is in parentheses and may contain anything: state, parent, group.
    const [state = '', , group] = statOf(id)
      .replace(/^.*\) /s, '')
      .split(' ');
    if (Number(group) !== this.leader) return undefined;
    return state === 'Z' || state === 'X' ? 'ended' : 'running';
  }
}

export type TerminationSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

/** A process or a process group, as the termination ladder sees it. */
export type Terminable = {
  /** Ends its stdin, for programs that exit at the end of their input. */
  endInput?(): void;
  signal(signal: TerminationSignal): unknown;
  /** Whether it has ended; waits up to `withinMs` for that. */
  isGone(withinMs: number): Promise<boolean>;
};

/**
 * The termination ladder: ends the input, then sends each signal, and waits after each step until the target has ended
 * or the step's time is over. Resolves with whether the target has ended.
 */
export async function terminate(
  target: Terminable,
  ladder: {
    readonly signals: readonly TerminationSignal[];
    /** Time for each step. */
    readonly graceMs: number;
    /** Time after SIGKILL; by default `graceMs`. */
    readonly killMs?: number;
  },
): Promise<boolean> {
  const { signals, graceMs, killMs = graceMs } = ladder;
  target.endInput?.();
  if (target.endInput && (await target.isGone(graceMs))) return true;
  for (const signal of signals) {
    target.signal(signal);
    if (await target.isGone(signal === 'SIGKILL' ? killMs : graceMs)) return true;
  }
  return false;
}

/** Process ids from /proc; empty on systems without it. */
function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function statOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    // The process has ended and was reaped.
    return '';
  }
}
