/** Each on a line of its own. */
export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** A document for programs. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
