import { isRecord } from '../../base/json-value.ts';

/** JSON text that is the same for values that mean the same: members sorted, and lists whose order means nothing. */
export function canonical(value: unknown): string {
  return JSON.stringify(ordered(value)) ?? 'null';
}

/** JSON Schema takes these as sets; some servers list them in another order at every start. */
const SETS: ReadonlySet<string> = new Set(['required', 'enum', 'type']);

/** The value whose plain JSON text is canonical. */
export function ordered(value: unknown, key?: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => ordered(item));
    return key !== undefined && SETS.has(key) && items.every((item) => typeof item === 'string')
      ? items.toSorted()
      : items;
  }
  if (!isRecord(value)) return value;
  const made: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) setOwn(made, name, ordered(member, name));
  }
  return made;
}

/** A member called `__proto__` is one like any other. */
function setOwn(made: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') made[name] = value;
  else Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether both have the same canonical text, found out without writing either where they are alike. */
export function isAlike(one: unknown, other: unknown): boolean {
  return isIdentical(one, other) || canonical(one) === canonical(other);
}

/** The same members and items, lists in the same order. */
export function isIdentical(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, at) => isIdentical(item, other[at]))
    );
  }
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isIdentical(one[name], other[name]))
  );
}
