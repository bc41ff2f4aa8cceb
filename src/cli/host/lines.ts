/** Each on a line of its own. */
export function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** A document for programs. Throws for what is nested too deeply to be written, as a server may send it. */
export function jsonText(value: unknown): string {
  try {
    return `${JSON.stringify(value, undefined, 2)}\n`;
  } catch (cause) {
    throw new Error('what came is nested too deeply, or too large, to be written as JSON', { cause });
  }
}
