/** Deeper values are left as they are. */
const DEEPEST = 500;

/**
 * Data without half of a character that takes two units, which interfaces of models refuse; it would be in every later
 * request as well. What is well-formed stays the same object.
 */
export function wellFormed<T>(value: T): T {
  return mended(value, 0) as T;
}

function mended(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mended(item, depth + 1));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const entries = Object.entries(value);
  const told = entries.map(([name, member]) => [name.toWellFormed(), mended(member, depth + 1)] as const);
  const isSame = told.every(([name, member], at) => name === entries[at]?.[0] && member === entries[at]?.[1]);
  return isSame ? value : Object.fromEntries(told);
}
