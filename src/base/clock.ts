import { startTimer } from './async/timers.ts';

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
