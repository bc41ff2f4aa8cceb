import { type Outcome, short } from './judge.ts';
import type { Verdict } from './verdict.ts';

/** Whatever the fault was: close() ends, does not fail, and no process of a server outlives it. `left` counts those that do. */
export async function judgeEnd(
  verdict: Verdict,
  closing: Outcome<unknown>,
  left: () => Promise<number>,
): Promise<Verdict> {
  if (!verdict.pass) return verdict;
  if (closing.kind === 'silent') return { pass: false, note: `close() does not end within ${closing.ms} ms` };
  if (closing.kind === 'rejected') return { pass: false, note: `close() fails: ${short(closing.reason)}` };
  const count = await left();
  return count === 0 ? verdict : { pass: false, note: `${count} processes are left after close()` };
}
