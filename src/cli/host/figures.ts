/** A whole number as people read it: `12,345`. */
export function counted(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 tool`, `2 tools`. */
export function many(value: number, noun: string): string {
  return `${counted(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `7.5 %` of a whole. */
export function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

/** A size in bytes: `512 bytes`, `1.5 kB`. */
export function sized(bytes: number): string {
  if (bytes < 1000) return many(bytes, 'byte');
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size.toFixed(1)} ${unit}`;
}
