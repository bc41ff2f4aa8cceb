/** A whole number as people read it: `12,345`. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 tool`, `2 tools`. */
export function pluralize(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** `7.5 %` of a whole. */
export function formatPercent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

/** A size in bytes: `512 bytes`, `1.5 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return pluralize(bytes, 'byte');
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size.toFixed(1)} ${unit}`;
}
/** Each on a line of its own. */
export function joinLines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** A document for programs. Throws for what is nested too deeply to be written, as a server may send it. */
export function jsonDocument(value: unknown): string {
  try {
    return `${JSON.stringify(value, undefined, 2)}\n`;
  } catch (cause) {
    throw new Error('what came is nested too deeply, or too large, to be written as JSON', { cause });
  }
}

/** The first non-empty line. */
export function firstLine(description = ''): string {
  return description.trim().split('\n', 1)[0]?.trim() ?? '';
}
