import { UNSEEN } from '../../base/text/display-text.ts';

/**
 * Text of a model, a tool or a server as a terminal may be given it: it can neither move the cursor nor change colours,
 * titles or the clipboard, nor hide or reorder what a person reads. Each dangerous character becomes a visible one, so
 * a sequence that comes in pieces is as harmless as a whole one. Newlines and tabs stay.
 */
export function neutralise(text: string): string {
  return text.replace(/\r(?=\n|$)/g, '').replace(UNSEEN, picture);
}

/** The same on one line: any white space becomes one space. */
export function onOneLine(text: string): string {
  return neutralise(text.replace(/\s+/g, ' ').trim());
}

function picture(character: string): string {
  if (character === '\t' || character === '\n') return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
