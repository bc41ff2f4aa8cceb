/** The longest time in all, or the longest silence. */
export type Limit = 'total' | 'idle';

/** What ran out of time, of which limit, and where to raise it. */
export function sayTimeout(subject: string, limit: Limit, ms: number): string {
  const time = sayTime(ms);
  return limit === 'idle'
    ? `${subject} timed out after ${time} of silence; raise idleTimeoutMs if it may take longer`
    : `${subject} timed out after ${time}; raise "timeout" of its entry or callTimeoutMs if it may take longer`;
}

function sayTime(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.floor(ms / 1000)}s`;
}
