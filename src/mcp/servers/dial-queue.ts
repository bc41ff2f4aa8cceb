import type { Clock } from './clock.ts';

/** How many servers are dialled at a time. */
export type Dialling = {
  /** Processes of this machine. */
  readonly local: number;
  /** Servers on the network. */
  readonly remote: number;
  /** After how long a silent dial lets the next one begin. */
  readonly yieldAfterMs: number;
};

export const DIALLING: Dialling = { local: 3, remote: 20, yieldAfterMs: 2_000 };

/** Which batch a dial belongs to; one without a lane waits for nobody. */
export type Lane = 'local' | 'remote' | undefined;

type Batch = { free: number; readonly waiting: Set<() => void> };

/** Lets dials begin in the order they came, so many at a time; one that stays silent gives its place away and goes on. */
export class DialQueue {
  readonly #batches: Readonly<Record<'local' | 'remote', Batch>>;
  readonly #yieldAfterMs: number;
  readonly #clock: Clock;

  constructor({ local, remote, yieldAfterMs }: Dialling, clock: Clock) {
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

/** The place goes to whoever has waited longest. */
function pass(batch: Batch): void {
  const [first] = batch.waiting;
  if (!first) {
    batch.free++;
    return;
  }
  batch.waiting.delete(first);
  first();
}
