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
