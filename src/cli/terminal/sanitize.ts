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
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += columns(segment);
  return width;
}

/** Truncates text to `width` columns, ending in `…`. */
export function truncateToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    const wide = columns(segment);
    if (used + wide > width - 1) break;
    kept += segment;
    used += wide;
  }
  return `${kept}…`;
}

const GRAPHEMES = new Intl.Segmenter();

function columns(grapheme: string): number {
  if (grapheme === '\t') return 8;
  if (/^[\p{Mn}\p{Me}\p{Cf}]+$/u.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/** Emoji and characters that are two columns wide (East Asian Width W and F). */
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\ufe0f/u;
