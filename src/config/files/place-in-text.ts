import type { Position } from '../model.ts';
import { endOfLine } from './json-words.ts';

/** Where offsets of a text stand, in lines and columns as editors count them; the lines are found once, when asked. */
export function placesIn(text: string): (offset: number) => Position {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = endOfLine(text, 0); at < text.length; at = endOfLine(text, at)) {
    at += text.startsWith('\r\n', at) ? 2 : 1;
    starts.push(at);
  }
  return starts;
}
