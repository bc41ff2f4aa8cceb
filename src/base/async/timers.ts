/** The longest delay a timer can have; anything above would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `setTimeout` for a limit a person gave: one beyond what timers can count, or `Infinity`, waits as long as they can. */
export function startTimer(ms: number, onElapsed: () => void): NodeJS.Timeout {
  return setTimeout(onElapsed, Math.min(ms, MAX_TIMER_MS));
}

/** Waits for the work, but no longer than so many milliseconds nor beyond the signal; the work itself goes on. Rejects as it does. */
export async function within(ms: number, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const giveUp = () => resolve();
  const timer = startTimer(ms, giveUp);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
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
