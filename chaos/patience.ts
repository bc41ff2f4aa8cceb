/** How long a process takes to load its program, from the compile cache, where nothing else is going on, in milliseconds. */
const USUAL_MS = 150;

/**
 * How much longer than usual things take on a machine where loading a program took so long. Twice at most: a call that
 * should end at once must not get the time to end at its own limit.
 */
export function patienceFor(loadedAfterMs: number): number {
  return Math.min(Math.max(loadedAfterMs / USUAL_MS, 1), 2);
}

/** By how much the judges of this process stretch their limits, for every client alike: a busy machine is nobody's fault. */
export const PATIENCE: number = patienceFor(performance.now());
