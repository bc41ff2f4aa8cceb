import { type Clock, pause } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ServerEntry } from '../connection/connect-context.ts';

/** How many servers connect at a time. */
export type ConnectConcurrency = {
  /** Local processes. */
  readonly local: number;
  /** Remote servers. */
  readonly remote: number;
  /** Time after which an unanswered attempt no longer counts. */
  readonly yieldAfterMs: number;
};

export const CONNECT_CONCURRENCY: ConnectConcurrency = { local: 3, remote: 20, yieldAfterMs: 2_000 };

/** Which limit applies to an attempt; `undefined` is unlimited. */
export type Lane = 'local' | 'remote' | undefined;

type Batch = { free: number; readonly waiting: Set<() => void> };

/** Starts connection attempts in order, a limited number at a time; an attempt that takes long stops counting. */
export class ConnectQueue {
  readonly #batches: Readonly<Record<'local' | 'remote', Batch>>;
  readonly #yieldAfterMs: number;
  readonly #clock: Clock;

  constructor({ local, remote, yieldAfterMs }: ConnectConcurrency, clock: Clock) {
    this.#batches = {
      local: { free: Math.max(1, local), waiting: new Set() },
      remote: { free: Math.max(1, remote), waiting: new Set() },
    };
    this.#yieldAfterMs = yieldAfterMs;
    this.#clock = clock;
  }

  /** Settles as the attempt does; if the signal aborts while it is queued, rejects with the signal's reason. */
  async run<T>(lane: Lane, signal: AbortSignal, dial: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (lane === undefined) return dial();
    const batch = this.#batches[lane];
    await enter(batch, signal);
    let isHeld = true;
    const leave = () => {
      if (isHeld) pass(batch);
      isHeld = false;
    };
    const stopWaiting = this.#clock.after(this.#yieldAfterMs, leave, 'background');
    try {
      return await dial();
    } finally {
      stopWaiting();
      leave();
    }
  }
}

function enter(batch: Batch, signal: AbortSignal): Promise<void> {
  if (batch.free > 0) {
    batch.free--;
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const begin = () => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = () => {
      batch.waiting.delete(begin);
      reject(signal.reason);
    };
    batch.waiting.add(begin);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** Gives the free place to the attempt that has waited longest. */
function pass(batch: Batch): void {
  const [first] = batch.waiting;
  if (!first) {
    batch.free++;
    return;
  }
  batch.waiting.delete(first);
  first();
}

/** Connects of one server within `WINDOW_MS`. Each may start a process or open a socket twice, which makes 8 starts. */
const MAX_CONNECTS = 4;
/** The limit for servers of sub-agents, several of which may each start a server of the same name at once. */
const MAX_SHARED_CONNECTS = 8;
const WINDOW_MS = 3_500;

/** Limits how often one server is connected in any 3.5 s, for any reason: retries, calls, `reconnect()`. */
export class ConnectRateLimit {
  readonly #clock: Clock;
  readonly #max: number;
  #recent: readonly { at: number }[] = [];

  constructor(clock: Clock, max = MAX_CONNECTS) {
    this.#clock = clock;
    this.#max = max;
  }

  /** How long the next attempt has to wait; 0 if it may start now. */
  waitMs(): number {
    const now = this.#clock.now();
    this.#recent = this.#recent.filter(({ at }) => at <= now && now - at < WINDOW_MS);
    if (this.#recent.length < this.#max) return 0;
    return Math.min(...this.#recent.map(({ at }) => at)) + WINDOW_MS - now;
  }

  /**
   * Waits until an attempt may start and counts it; call the result when the attempt actually starts, which may be later.
   * Rejects with the reason of an aborted signal.
   */
  async admit(signal: AbortSignal): Promise<() => void> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = this.waitMs();
      if (waitMs <= 0) break;
      await pause(this.#clock, waitMs, signal);
    }
    const dial = { at: this.#clock.now() };
    this.#recent = [...this.#recent, dial];
    return () => {
      dial.at = this.#clock.now();
    };
  }
}

/** Rate limits by server name, for several `Servers` that start the same entries. */
export class SharedConnectLimits {
  readonly #clock: Clock;
  readonly #limits = new Map<string, ConnectRateLimit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(key: string): ConnectRateLimit {
    const limit = this.#limits.get(key) ?? new ConnectRateLimit(this.#clock, MAX_SHARED_CONNECTS);
    this.#limits.set(key, limit);
    return limit;
  }
}

/** In-process servers are not limited, processes have one limit, all others are remote. */
export function laneOf(entry: ServerEntry): Lane {
  // An invalid entry is never connected.
  if (!isRecord(entry) || entry.type === 'sdk') return undefined;
  return 'command' in entry ? 'local' : 'remote';
}
