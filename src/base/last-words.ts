const MOST = 5;
const WIDTH = 120;

/** The last lines of a process as they fit into one line of ours; the very last counts most and is never left out. */
export function lastWords(lines: readonly string[]): string {
  return lines
    .slice(-MOST)
    .map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line))
    .join(' | ');
}
