/** The first pause before a stream is opened again, and what it grows to. */
export type LastingPause = { firstMs: number; longestMs: number };

export const LASTING_PAUSE: LastingPause = { firstMs: 1000, longestMs: 30_000 };

/** The pause after so many failures; a server may ask for another first one, within what is good for both. */
export function pauseMs(
  askedMs: number | undefined,
  failures: number,
  { firstMs, longestMs }: LastingPause,
): number {
  // Twice nothing is nothing, and a timer for too long fires at once.
  const first = Math.min(Math.max(askedMs ?? firstMs, firstMs), longestMs);
  return Math.min(first * 2 ** failures, longestMs);
}

/** The pause that the last of these events asks for. */
export function retryOf(events: string): number | undefined {
  const retry = [...events.matchAll(RETRY)].at(-1)?.[1];
  return retry === undefined ? undefined : Number(retry);
}

const RETRY = /(?<=^|[\r\n])retry: ?(\d+)[ \t]*(?=[\r\n]|$)/g;
