import { pluralize } from '../../base/text/display-text.ts';

/** A share as a percentage: `7.5 %`. */
export function formatPercent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}

/** A size in bytes: `512 bytes`, `1.5 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return pluralize(bytes, 'byte');
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size.toFixed(1)} ${unit}`;
}

/** Joins lines, each with a newline. */
export function joinLines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** A JSON document. Throws for a value that is nested too deeply for JSON, which a server may send. */
export function jsonDocument(value: unknown): string {
  try {
    return `${JSON.stringify(value, undefined, 2)}\n`;
  } catch (cause) {
    throw new Error('cannot print the result as JSON: it is nested too deeply or too large', { cause });
  }
}

/** The first non-empty line. */
export function firstLine(description = ''): string {
  return description.trim().split('\n', 1)[0]?.trim() ?? '';
}
