/**
 * Milliseconds from now that a `Retry-After` header asks for: seconds, or a date. Undefined for anything else, and for a
 * date if nobody knows the time.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  // Only a real date: `Date.parse` takes all kinds of words.
  const at = /^[A-Za-z]{3,9},? /.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at - now) ? undefined : Math.max(0, at - now);
}
