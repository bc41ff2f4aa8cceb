/** Time as the servers use it; tests pass a fake. */
export type Clock = {
  /** Milliseconds since 1970; jumps after the machine was suspended. */
  now(): number;
  /** Returns a function that cancels the timer. A `background` timer does not keep the process alive. */
  after(ms: number, run: () => void, where?: 'background'): () => void;
};

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after(ms, run, where) {
    const timer = startTimer(ms, run);
    if (where === 'background') timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after the delay, or as soon as the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
/** Maximum delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `setTimeout` that caps delays at the maximum of a timer, `Infinity` included. */
export function startTimer(ms: number, onElapsed: () => void): NodeJS.Timeout {
  return setTimeout(onElapsed, Math.min(ms, MAX_TIMER_MS));
}

/** Waits for work to settle, at most `ms` milliseconds and until the signal aborts; the work itself continues. Rejects if the work rejects. */
export async function within(ms: number, work: Promise<unknown>, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const giveUp = () => resolve();
  const timer = startTimer(ms, giveUp);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** Settles as the work does, or rejects with the signal's reason, whichever comes first. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
/** Limits of an exponential backoff. */
type Backoff = {
  /** The delay after the first failure. */
  readonly firstMs: number;
  /** The maximum delay. */
  readonly maxMs: number;
};

/** The delay after the n-th failure in a row, counted from 1: `firstMs`, then twice as long each time, up to `maxMs`. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
}

/**
 * A random part of a delay, so that clients that failed together do not return together. `random` is in [0, 1); the
 * result is at least `min` of the delay.
 */
export function jitter(ms: number, random: number, min = 1 / 2): number {
  return ms * (min + random * (1 - min));
}
