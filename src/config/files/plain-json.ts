import { isRecord } from '../../base/json-value.ts';

/** How deep objects and lists may stand in each other: more than anybody writes, less than a stack holds. */
export const MAX_DEPTH = 200;

/** How many texts, numbers, words, objects and lists a text may hold: a small file can hold enough to fill the memory. */
export const MAX_VALUES = 200_000;

/** The value of a text that is strict JSON, not too much, and names no member twice; undefined if it may not be. */
export function parseStrictJson(text: string): { readonly value: unknown } | undefined {
  const { depth, members, values } = shapeOf(text);
  if (depth > MAX_DEPTH || values > MAX_VALUES) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Of members of the same name one is left: fewer are there than were written.
    return countMembers(value) === members ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** Right for strict JSON only; of anything else the parser has the last word. */
function shapeOf(text: string): {
  readonly depth: number;
  readonly members: number;
  readonly values: number;
} {
  // Each value but the first stands after a comma or after what opens; what is empty is counted once too often.
  let [depth, now, members, values] = [0, 0, 0, 1];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) members++;
    else if (code === COMMA) values++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      values++;
      depth = Math.max(depth, ++now);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) now--;
  }
  return { depth, members, values };
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The quote that ends the text which begins at `start`; the end of everything if there is none. */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

function countMembers(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, it) => sum + countMembers(it), 0);
  if (!isRecord(value)) return 0;
  const members = Object.values(value);
  return members.reduce<number>((sum, it) => sum + countMembers(it), members.length);
}
