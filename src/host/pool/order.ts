/** The order of names within a pool: as English collation puts ASCII names, whatever the machine's locale is. */
export function compareNames(a: string, b: string): number {
  return compareUnits(weight(a), weight(b)) || compareUnits(b, a);
}

/** The order of UTF-16 units: total, and the same everywhere. */
export function compareUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Both signs come before digits, digits before letters; case decides last. */
function weight(name: string): string {
  return name.toLowerCase().replaceAll('_', ' ').replaceAll('-', '!');
}
