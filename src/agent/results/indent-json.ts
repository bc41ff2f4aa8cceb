/** Longer texts are left as they are: nothing else happens in the meantime, and `Read` takes long lines by column. */
const LONGEST = 1_000_000;
/** White space that may be added at most. */
const MOST_ADDED = 4_000_000;
/** Deeper values are not indented further, so that a text of brackets does not explode. */
const DEEPEST = 24;

/**
 * JSON with a line for each item, so that it can be read by lines; a text that is no JSON comes back as it is. Nothing
 * but white space between the tokens changes: numbers, order and doubled names stay.
 */
export function indentJson(text: string): string {
  if (text.length > LONGEST || !isJson(text)) return text;
  let out = '';
  let depth = 0;
  let at = 0;
  const newLine = () => `\n${' '.repeat(Math.min(depth, DEEPEST))}`;
  while (at < text.length) {
    if (out.length - at > MOST_ADDED) return text;
    const sign = text[at] as string;
    if (sign === '"') {
      const end = stringEnd(text, at);
      out += text.slice(at, end);
      at = end;
      continue;
    }
    at++;
    if (sign === '{' || sign === '[') {
      depth++;
      const next = skipBlank(text, at);
      if (text[next] === '}' || text[next] === ']') {
        depth--;
        out += sign + text[next];
        at = next + 1;
      } else out += sign + newLine();
    } else if (sign === '}' || sign === ']') {
      depth--;
      out += newLine() + sign;
    } else if (sign === ',') out += sign + newLine();
    else if (sign === ':') out += ': ';
    else if (!BLANK.has(sign)) out += sign;
  }
  return out;
}

const BLANK: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r']);

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (BLANK.has(text[at])) at++;
  return at;
}

/** Where a string that begins at `start` is over: after a quote with an even number of backslashes before it. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let at = quote - 1;
  while (text[at] === '\\') at--;
  return (quote - at) % 2 === 0;
}
