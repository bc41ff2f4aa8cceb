/** The longest delay a timer can have; anything above would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** `setTimeout` for a limit a person gave: one beyond what timers can count, or `Infinity`, waits as long as they can. */
export function startTimer(ms: number, onElapsed: () => void): NodeJS.Timeout {
  return setTimeout(onElapsed, Math.min(ms, LONGEST_MS));
}
