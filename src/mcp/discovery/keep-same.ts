/**
 * The new list made of the old objects wherever nothing changed, and the old list itself if nothing did at all: whoever
 * remembers what it made of an object need not make it again. The order of members means nothing.
 */
export function keepSame<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): readonly T[] {
  const known = new Map(before.map((item) => [item.name, item]));
  const kept = after.map((item) => {
    const old = known.get(item.name);
    return old !== undefined && isEqual(old, item) ? old : item;
  });
  const isUnchanged = kept.length === before.length && kept.every((item, at) => item === before[at]);
  return isUnchanged ? before : kept;
}

/** Of two values of JSON, which do not nest without end: both have been read before. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, at) => isEqual(item, b[at]));
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let more = 0;
  for (const name in left) {
    if (!Object.hasOwn(right, name) || !isEqual(left[name], right[name])) return false;
    more++;
  }
  for (const _ in right) more--;
  return more === 0;
}
