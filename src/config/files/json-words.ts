import { endOfString } from './plain-json.ts';

/** What is no JSON and where; it shows nothing of the text. */
export type TextFault = { readonly message: string; readonly offset: number };

/** A scalar of a text: its value, and where it ends. */
export type Word = { readonly value: unknown; readonly end: number };

/** Where blanks and comments end; a comment that does not is a fault. */
export function skipTrivia(text: string, from: number): number | TextFault {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === SLASH && text[at + 1] === '/') at = endOfLine(text, at) - 1;
    else if (code === SLASH && text[at + 1] === '*') {
      const end = text.indexOf('*/', at + 2);
      if (end < 0) return { message: 'a comment does not end; */ is missing', offset: at };
      at = end + 1;
    } else if (code !== SPACE && code !== TAB && code !== LINE_FEED && code !== RETURN) return at;
  }
}

const [TAB, LINE_FEED, RETURN, SPACE, SLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2f];

/** Where the line ends on which the offset is. */
export function endOfLine(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === RETURN) return at;
  }
  return text.length;
}

/** A text in double quotes. */
export function readString(text: string, offset: number): Word | TextFault {
  const last = endOfString(text, offset);
  const written = text.slice(offset, last + 1);
  try {
    return { value: JSON.parse(written), end: last + 1 };
  } catch {
    return stringFault(written, offset, last >= text.length);
  }
}

function stringFault(written: string, offset: number, isOpen: boolean): TextFault {
  // Who forgets a quote has the rest of the line in the text.
  if (isOpen || /[\r\n]/.test(written))
    return { message: 'a text does not end; a double quote is missing', offset };
  for (let at = 1; at < written.length; at++) {
    if (written.charCodeAt(at) < SPACE)
      return { message: 'a control character in a text; write it as \\t or \\u', offset: offset + at };
    if (written[at] !== '\\') continue;
    if (!/^(?:["\\/bfnrt]|u[\da-f]{4})/i.test(written.slice(at + 1, at + 6)))
      return { message: ESCAPE, offset: offset + at };
    at++;
  }
  return { message: ESCAPE, offset };
}

const ESCAPE = 'a backslash before what needs none; write \\\\ for a backslash';

/** A number, `true`, `false` or `null`. */
export function readWord(text: string, offset: number): Word | TextFault {
  const pattern = /[-+.\w]+/y;
  pattern.lastIndex = offset;
  const written = pattern.exec(text)?.[0] ?? '';
  if (written === '') {
    const isMissing = /[,:}\]]/.test(text[offset] ?? '');
    return { message: isMissing ? 'a value is missing here' : NO_WORD, offset };
  }
  try {
    return { value: JSON.parse(written), end: offset + written.length };
  } catch {
    return { message: /^[-+.\d]/.test(written) ? 'this is no number' : NO_WORD, offset };
  }
}

export const NO_WORD = 'a word that is no JSON; texts and names stand in double quotes';
