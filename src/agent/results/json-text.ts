/** Data as JSON; also what is nested too deeply to be written leaves a word. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch {
    return '(data that is nested too deeply to be shown)';
  }
}
