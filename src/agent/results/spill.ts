import { keep } from './binary.ts';
import { headOf, previewSize, type ResultLimit, sizeOf, tailOf } from './limit.ts';
import { type TextPiece, textOf } from './pieces.ts';
import type { ResultSource } from './result-store.ts';

/** `Read` cuts longer lines, so they are broken up if they are JSON. */
const LONG_LINE = 2_000;

/** How much of the texts may stay, and whether they are all that the result says. */
type SpillRoom = { readonly room: number; readonly isAll: boolean };

/**
 * What a model is told of texts that are too long together: where they are, how to go on reading, how they begin and
 * end. Where there is no file, they are cut, and that is said.
 */
export async function spill(
  texts: readonly TextPiece[],
  { room, isAll }: SpillRoom,
  source: ResultSource,
): Promise<string> {
  const { limit } = source;
  const label = texts.length === 1 && texts[0]?.label !== undefined ? `${texts[0].label} ` : '';
  const what = isAll
    ? 'The result'
    : texts.length === 1
      ? 'A part of the result'
      : 'A part of the result, in several texts,';
  if (!source.hasFiles || !source.canUse('Read') || !source.mayRead()) {
    return label + cut(joined(texts, { indented: false }), room, limit, { what, ending: '' });
  }
  const whole = joined(texts, { indented: true });
  const kept = await keepText(whole, source);
  if ('fault' in kept) {
    return label + cut(whole, room, limit, { what, ending: `, and it could not be saved: ${kept.fault}` });
  }
  const search = source.canUse('Grep') ? ', or search it with Grep' : '';
  const parts = hasLongLine(whole) ? 'offset, limit and, for its long lines, column' : 'offset and limit';
  const size = Math.min(previewSize(limit), room);
  return (
    `${label}${what} has ${measures(whole, limit)}. All of it is in ${kept.paths.join(', then ')}: ` +
    `read it in parts, with Read and its ${parts}${search}. It begins and ends so:\n` +
    ends(whole, size, limit, (left) => `[… ${shown(left)} characters in between …]`)
  );
}

/** In as many files as `Read` needs to take each. */
async function keepText(
  whole: string,
  source: ResultSource,
): Promise<{ readonly paths: readonly string[] } | { readonly fault: string }> {
  const paths: string[] = [];
  for (const part of splitText(whole)) {
    // A file with a NUL in it is taken for binary, and then nobody reads it.
    const kept = await keep(Buffer.from(part.replaceAll('\0', '\u2400')), '.txt', source);
    if ('fault' in kept) return kept;
    paths.push(kept.path);
  }
  return { paths };
}

/** Each under its label, where there are several. */
function joined(texts: readonly TextPiece[], { indented }: { indented: boolean }): string {
  const written = texts.map((piece) => {
    const text = indented ? readable(piece.text) : piece.text;
    return texts.length === 1 ? text : textOf({ ...piece, text });
  });
  return written.join('\n');
}

function readable(text: string): string {
  return hasLongLine(text) ? indentJson(text) : text;
}

function hasLongLine(text: string): boolean {
  let start = 0;
  while (text.length - start > LONG_LINE) {
    const end = text.lastIndexOf('\n', start + LONG_LINE);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
}

function cut(
  whole: string,
  room: number,
  limit: ResultLimit,
  { what, ending }: { readonly what: string; readonly ending: string },
): string {
  const note = (left: number) =>
    `[${shown(left)} characters were left out here: ${what.toLowerCase()} has ${measures(whole, limit)}${ending}. ` +
    'If they matter, ask the tool for less at a time.]';
  return ends(whole, Math.max(0, room), limit, note);
}

/** Three parts of the beginning to one of the end, which often says how it all came out. */
function ends(whole: string, size: number, { unit }: ResultLimit, note: (left: number) => string): string {
  const tailSize = Math.floor(size / 4);
  const head = headOf(whole, size - tailSize, unit);
  const tail = tailOf(whole, tailSize, unit);
  const left = whole.length - head.length - tail.length;
  if (left <= 0) return whole;
  return [head, note(left), tail].filter((part) => part !== '').join('\n');
}

function measures(whole: string, { most, unit }: ResultLimit): string {
  let lines = 1;
  for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) lines++;
  const tokens = unit === 'tokens' ? `, about ${shown(sizeOf(whole, unit))} tokens` : '';
  const inLines = `${shown(whole.length)} characters in ${shown(lines)} ${lines === 1 ? 'line' : 'lines'}`;
  return `${inLines}${tokens}, and of one result at most ${shown(most)} ${unit} are given`;
}

function shown(count: number): string {
  return Math.floor(count).toLocaleString('en-US');
}
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
/** In characters, of which each may take three bytes: `Read` takes files up to 32 MB. */
const LONGEST_PART = 10_000_000;

/** A text in parts of a length that can be read, which together are the text: at line ends where there are any. */
export function splitText(text: string, longest = LONGEST_PART): string[] {
  const parts: string[] = [];
  let at = 0;
  while (text.length - at > longest) {
    const end = text.lastIndexOf('\n', at + longest - 1) + 1;
    const isPair = /[\uD800-\uDBFF]/.test(text[at + longest - 1] as string);
    const next = end > at ? end : at + longest - (isPair && longest > 1 ? 1 : 0);
    parts.push(text.slice(at, next));
    at = next;
  }
  return [...parts, text.slice(at)];
}
