import { indentJson } from './indent-json.ts';
import { keep } from './keep-binary.ts';
import { headOf, previewSize, type ResultLimit, sizeOf, tailOf } from './limit.ts';
import { type TextPiece, textOf } from './piece.ts';
import type { ResultSource } from './result-source.ts';
import { splitText } from './split-text.ts';

/** `Read` cuts longer lines, so they are broken up if they are JSON. */
const LONG_LINE = 2_000;

/** How much of the texts may stay, and whether they are all that the result says. */
export type SpillRoom = { readonly room: number; readonly isAll: boolean };

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
