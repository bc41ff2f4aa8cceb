import { INVISIBLE_CHARACTERS } from '../../base/text/display-text.ts';

/**
 * Makes text of a model, a tool or a server safe for a terminal: it can neither move the cursor nor change colors,
 * titles or the clipboard, nor hide or reorder text. Each control character is replaced by a visible one, so
 * an escape sequence that arrives in parts is harmless too. Newlines and tabs are kept.
 */
export function sanitize(text: string): string {
  return text.replace(/\r(?=\n|$)/g, '').replace(INVISIBLE_CHARACTERS, picture);
}

/** Sanitizes text to one line: white space becomes single spaces. */
export function sanitizeLine(text: string): string {
  return sanitize(text.replace(/\s+/g, ' ').trim());
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colors of programs.
const PROGRAM_COLORS = /\u001b\[[\d;:]*m/g;

/** The output of a program without the colors that it set. */
export function withoutColors(text: string): string {
  return text.replace(PROGRAM_COLORS, '');
}

function picture(character: string): string {
  if (character === '\t' || character === '\n') return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** The number of terminal columns of a text without control characters. */
export function displayWidth(text: string): number {
  // Printable ASCII, the most frequent text, needs no segmenter, whose creation takes several milliseconds.
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const segment of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** Truncates text to `width` columns, ending in `…`. */
export function truncateToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 0;
  for (const segment of graphemes(text)) {
    const wide = graphemeWidth(segment);
    if (used + wide > width - 1) break;
    kept += segment;
    used += wide;
  }
  return `${kept}…`;
}

let segmenter: Intl.Segmenter | undefined;

/** The user-perceived characters of a text. */
export function* graphemes(text: string): Generator<string> {
  if (/^[ -~]*$/.test(text)) {
    yield* text;
    return;
  }
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** The number of terminal columns of one user-perceived character. */
export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && grapheme >= ' ' && grapheme <= '~') return 1;
  if (grapheme === '\t') return 8;
  if (/^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Emoji and characters that are two columns wide (East Asian Width W and F). */
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\ufe0f/u;
