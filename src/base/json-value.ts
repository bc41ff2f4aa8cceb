/** A JSON object: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
/**
 * Maximum nesting depth of data from a server, a tool or a model, so that code may recurse over it, as `JSON.stringify`
 * does: the stack overflows at several thousand levels.
 */
export const MAX_NESTING = 512;

/** Whether data has more levels of objects and lists than `levels`; true for data that contains itself. */
export function isNestedDeeper(value: unknown, levels: number = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (isNestedDeeper(value[at], levels - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    if (isNestedDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  }
  return false;
}

/** The data with `null` in place of every object and list that is nested deeper than `levels`. */
export function cutNesting(value: unknown, levels: number = MAX_NESTING): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((member) => cutNesting(member, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, cutNesting(member, levels - 1)]),
  );
}

/** Whether two JSON values are equal; the order of members does not matter, and an undefined member counts as absent. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, at) => isEqualJson(item, b[at]));
  }
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const name in left) {
    if (!isEqualJson(left[name], Object.hasOwn(right, name) ? right[name] : undefined)) return false;
  }
  for (const name in right) {
    if (right[name] !== undefined && !Object.hasOwn(left, name)) return false;
  }
  return true;
}

/** JSON text that is the same for objects that are equal, whatever the order of their members. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
