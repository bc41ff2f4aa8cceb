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
