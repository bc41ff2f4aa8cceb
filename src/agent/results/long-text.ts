import { saveBytes } from './binary.ts';
import { type TextPiece, textOf } from './pieces.ts';
import type { ResultSource } from './result-files.ts';
import { headOf, previewSize, type ResultLimit, sizeOf, tailOf } from './result-limit.ts';

/** `Read` truncates longer lines, so that JSON with longer lines is indented. */
const LONG_LINE = 2_000;

/** The size that may remain in the result, and whether the texts are all of its texts. */
type SpillRoom = { readonly room: number; readonly isAll: boolean };

/**
 * The replacement for texts that exceed the limit: the path of the file with the texts, how to read it, and their
 * beginning and end. Without a file, the texts are truncated in the middle with a note.
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
      : 'A part of the result (several texts)';
  if (!source.hasFiles || !source.canUse('Read') || !source.mayRead()) {
    return label + truncateMiddle(joined(texts, { indented: false }), room, limit, { what, ending: '' });
  }
  const whole = joined(texts, { indented: true });
  const saved = await saveText(whole, source);
  if ('fault' in saved) {
    return (
      label +
      truncateMiddle(whole, room, limit, {
        what,
        ending: `; the complete text could not be saved: ${saved.fault}`,
      })
    );
  }
  const search = source.canUse('Grep') ? ', or search it with Grep' : '';
  const parts = hasLongLine(whole) ? 'offset, limit and, for long lines, column' : 'offset and limit';
  const size = Math.min(previewSize(limit), room);
  return (
    `${label}${what} has ${measures(whole, limit)}. It is saved in ${saved.paths.join(', then ')}: ` +
    `read it in parts with Read (${parts})${search}. The beginning and end are:\n` +
    ends(whole, size, limit, (left) => `[… ${shown(left)} characters omitted …]`)
  );
}

/** Saves a text in files that are small enough for `Read`. */
async function saveText(
  whole: string,
  source: ResultSource,
): Promise<{ readonly paths: readonly string[] } | { readonly fault: string }> {
  const paths: string[] = [];
  for (const part of splitText(whole)) {
    // `Read` treats a file with a NUL as binary and refuses it.
    const saved = await saveBytes(Buffer.from(part.replaceAll('\0', '\u2400')), '.txt', source);
    if ('fault' in saved) return saved;
    paths.push(saved.path);
  }
  return { paths };
}

/** The texts, with their labels if there are several. */
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

function truncateMiddle(
  whole: string,
  room: number,
  limit: ResultLimit,
  { what, ending }: { readonly what: string; readonly ending: string },
): string {
  const note = (left: number) =>
    `[${shown(left)} characters omitted: ${what.toLowerCase()} has ${measures(whole, limit)}${ending}. ` +
    'To see the omitted characters, request less data per call.]';
  return ends(whole, Math.max(0, room), limit, note);
}

/** The beginning and the end in a ratio of three to one: the end often has the outcome. */
function ends(whole: string, size: number, { unit }: ResultLimit, note: (left: number) => string): string {
  const tailSize = Math.floor(size / 4);
  const head = headOf(whole, size - tailSize, unit);
  const tail = tailOf(whole, tailSize, unit);
  const left = whole.length - head.length - tail.length;
  if (left <= 0) return whole;
  return [head, note(left), tail].filter((part) => part !== '').join('\n');
}

function measures(whole: string, { max, unit }: ResultLimit): string {
  let lines = 1;
  for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) lines++;
  const tokens = unit === 'tokens' ? `, about ${shown(sizeOf(whole, unit))} tokens` : '';
  const inLines = `${shown(whole.length)} characters in ${shown(lines)} ${lines === 1 ? 'line' : 'lines'}`;
  return `${inLines}${tokens}, and the limit per result is ${shown(max)} ${unit}`;
}

function shown(count: number): string {
  return Math.floor(count).toLocaleString('en-US');
}

/**
 * Maximum length of a text that is indented: indenting a longer one would block other work, and `Read` takes long lines
 * by column.
 */
const MAX_INDENTED_LENGTH = 1_000_000;
const MAX_ADDED_SPACE = 4_000_000;
const MAX_INDENT = 24;

/**
 * JSON with a line for each item, so that `Read` can page through it; a text that is not JSON is returned unchanged. Only
 * the white space between tokens changes: numbers, the order of members and repeated names stay.
 */
export function indentJson(text: string): string {
  if (text.length > MAX_INDENTED_LENGTH || !isJson(text)) return text;
  let depth = 0;
  const newLine = () => `\n${' '.repeat(Math.min(depth, MAX_INDENT))}`;
  const indented = text.replace(JSON_TOKEN, (token) => {
    if (token.startsWith('"')) return token;
    if (/^[[{]\s*[\]}]$/.test(token)) return `${token[0]}${token.at(-1)}`;
    if (token === ':') return ': ';
    if (token === ',') return `,${newLine()}`;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else return '';
    return token === '{' || token === '[' ? token + newLine() : newLine() + token;
  });
  return indented.length - text.length > MAX_ADDED_SPACE ? text : indented;
}

/** A string, an empty object or list, a bracket or separator, or white space. */
const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[{]\s*[\]}]|[[{\]},:]|\s+/g;

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Maximum length of a file in characters of up to three bytes each: `Read` accepts files up to 32 MB. */
const MAX_PART_LENGTH = 10_000_000;

/** Splits a text into parts of at most `maxLength`, at line ends if possible. */
export function splitText(text: string, maxLength = MAX_PART_LENGTH): string[] {
  const parts: string[] = [];
  let at = 0;
  while (text.length - at > maxLength) {
    const end = text.lastIndexOf('\n', at + maxLength - 1) + 1;
    const isPair = /[\uD800-\uDBFF]/.test(text[at + maxLength - 1] as string);
    const next = end > at ? end : at + maxLength - (isPair && maxLength > 1 ? 1 : 0);
    parts.push(text.slice(at, next));
    at = next;
  }
  return [...parts, text.slice(at)];
}
