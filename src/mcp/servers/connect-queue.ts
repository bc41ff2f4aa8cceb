import { type Clock, pause } from '../../base/clock.ts';
import { isRecord } from '../../base/json-value.ts';
import type { ServerEntry } from '../connection/connect-context.ts';

/** How many servers connect at a time. */
export type ConnectConcurrency = {
  /** Processes of this machine. */
  readonly local: number;
  /** Servers on the network. */
  readonly remote: number;
  /** After how long a silent dial lets the next one begin. */
  readonly yieldAfterMs: number;
};

export const CONNECT_CONCURRENCY: ConnectConcurrency = { local: 3, remote: 20, yieldAfterMs: 2_000 };

/** Which batch a dial belongs to; one without a lane waits for nobody. */
export type Lane = 'local' | 'remote' | undefined;

type Batch = { free: number; readonly waiting: Set<() => void> };

/** Lets dials begin in the order they came, so many at a time; one that stays silent gives its place away and goes on. */
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

  /** Settles as the dial does; an abort while it waits rejects with the signal's reason, and it is not made. */
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

/** One attempt may start a process or open a socket twice, so this allows at most 8 starts in the first 3 s. */
const MAX_CONNECTS = 4;
/** Several sub-agents that run at once may each start a server of the same name. */
const MAX_SHARED_CONNECTS = 8;
const WINDOW_MS = 3_500;

/** Bounds how often one server is dialled in any 3.5 s, whatever asks for it: retries, calls, `reconnect()`. */
export class ConnectRateLimit {
  readonly #clock: Clock;
  readonly #max: number;
  #recent: readonly { at: number }[] = [];

  constructor(clock: Clock, max = MAX_CONNECTS) {
    this.#clock = clock;
    this.#max = max;
  }

  /** How long the next dial would have to wait; 0 if it may begin now. */
  waitMs(): number {
    const now = this.#clock.now();
    this.#recent = this.#recent.filter(({ at }) => at <= now && now - at < WINDOW_MS);
    if (this.#recent.length < this.#max) return 0;
    return Math.min(...this.#recent.map(({ at }) => at)) + WINDOW_MS - now;
  }

  /**
   * Resolves when the next dial may begin, and counts that dial; what it gives is called when the dial does begin, which
   * may be later. Rejects with the reason of an aborted signal.
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

/** Limits by the names of servers, for several `Servers` that start servers of their own from the same entries. */
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

/** Servers in the program wait for nobody, processes are started a few at a time, all others are on the network. */
export function laneOf(entry: ServerEntry): Lane {
  // What is no entry is not dialled, so it waits for nobody either.
  if (!isRecord(entry) || entry.type === 'sdk') return undefined;
  return 'command' in entry ? 'local' : 'remote';
}
