import { type Outcome, short } from './judge.ts';
import type { Verdict } from './verdict.ts';

/** After every fault close() must succeed, and no server process may outlive it. `left` counts the remaining ones. */
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
