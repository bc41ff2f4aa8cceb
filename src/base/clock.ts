import { startTimer } from './async/timers.ts';

/** Time, as far as servers over time need it; tests have one of their own. */
export type Clock = {
  /** In milliseconds since 1970: it jumps when the machine has slept. */
  now(): number;
  /** Returns how to call it off. What happens in the `background` keeps no process alive. */
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
