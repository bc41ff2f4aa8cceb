/** Time to load a program from the compile cache on an idle machine, in milliseconds. */
const USUAL_MS = 150;

/**
 * The factor for time limits on a machine where loading took this long. At most 2: a call that should end at once must not
 * get enough time to end at its own limit.
 */
export function patienceFor(loadedAfterMs: number): number {
  return Math.min(Math.max(loadedAfterMs / USUAL_MS, 1), 2);
}

/** The factor for the limits of this process, the same for every client. */
export const PATIENCE: number = patienceFor(performance.now());
