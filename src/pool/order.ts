/** The order of names within a pool: as English collation puts ASCII names, whatever the machine's locale is. */
export function compareNames(a: Weighed, b: Weighed): number {
  return compareUnits(a.weight, b.weight) || compareUnits(b.name, a.name);
}

/** A name and what it weighs, so that it is weighed once and not at every comparison. */
export type Weighed = { readonly name: string; readonly weight: string };

/** The order of UTF-16 units: total, and the same everywhere. */
export function compareUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What a name is ordered by, sign for sign: both marks come before digits, digits before letters; case decides last. */
export function weigh(name: string): string {
  // Only the underscore is not where it belongs among ASCII.
  return name.toLowerCase().replace(/_/g, ' ');
}
