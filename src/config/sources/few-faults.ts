import type { ConfigFault } from '../model.ts';

/** Nobody reads more about one file. */
const MOST = 50;

/**
 * What is wrong with one source, in its order, as many as anybody reads: what keeps an agent from starting and what does
 * not count come before mere warnings, and of all others their number is told.
 */
export function fewFaults(faults: readonly ConfigFault[]): readonly ConfigFault[] {
  if (faults.length <= MOST) return faults;
  const ranked = faults.toSorted((a, b) => rank(a) - rank(b));
  const chosen = new Set(ranked.slice(0, MOST));
  // The worst of those that are left out is the first of them.
  const { scope, label, level, isFatal, key } = ranked[MOST] as ConfigFault;
  const rest: ConfigFault = {
    level,
    scope,
    label,
    // Of the whole source nothing is said: the others may be in any part of it.
    ...(key !== undefined && { key: '…' }),
    message: `and ${faults.length - MOST} more; mend these first`,
    ...(isFatal && { isFatal }),
  };
  return [...faults.filter((fault) => chosen.has(fault)), rest];
}

function rank({ level, isFatal }: ConfigFault): number {
  if (isFatal) return 0;
  return level === 'error' ? 1 : 2;
}
