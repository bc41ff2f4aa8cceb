import type { Entry } from './entry.ts';

/** The entries that lead to one of them, oldest first. */
export type Chain = {
  readonly entries: readonly Entry[];
  /** Entries whose parent is not to be found; they are taken to follow the line before them. */
  readonly orphans: readonly Entry[];
};

/**
 * Follows the parents from an entry back to the start. Two processes that resumed the same session write side by side
 * into its file; each of them is one branch, and a branch is a whole conversation. Nothing if there is no such entry.
 */
export function chainTo(entries: readonly Entry[], uuid: string): Chain | undefined {
  const placeOf = new Map(entries.map((entry, at) => [entry.uuid, at]));
  let at = placeOf.get(uuid);
  if (at === undefined) return undefined;
  const found: Entry[] = [];
  const orphans: Entry[] = [];
  while (at >= 0) {
    const entry: Entry = entries[at] as Entry;
    found.push(entry);
    if (entry.parentUuid === null) break;
    const parent = placeOf.get(entry.parentUuid);
    // Only ever backwards, so that no file leads in a circle.
    const isBefore: boolean = parent !== undefined && parent < at;
    if (!isBefore) orphans.push(entry);
    at = isBefore ? (parent as number) : at - 1;
  }
  return { entries: found.reverse(), orphans };
}
