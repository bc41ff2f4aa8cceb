/**
 * Characters that control a terminal or are invisible: C0 and C1 controls (CSI and OSC have one-character forms
 * there), DEL, separators that break lines, marks that reorder text, zero-width characters, tag characters, and halves of
 * surrogate pairs. Joiners are not included: emoji and many scripts need them.
 */
export const INVISIBLE_CHARACTERS =
  /\p{Cc}|[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** Escapes characters that would break the line, control the terminal or change the direction of the text. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, escaped);
}

/** Escapes every invisible character of JSON text, joiners and variation selectors included; its value stays the same. */
export function visibleJson(json: string): string {
  return json.replaceAll(INVISIBLE_IN_JSON, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

const INVISIBLE_IN_JSON = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** JSON escapes of a character; two for a surrogate pair. */
function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at++) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return text;
}

/** The first `max` UTF-16 units of a text; a surrogate pair is never split. */
export function sliceText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** The text, or its first `max` characters followed by `mark` if it is longer. */
export function truncate(text: string, max: number, mark = '…'): string {
  return text.length > max ? `${sliceText(text, max)}${mark}` : text;
}

/** Average bytes per token in prose. Counted in bytes because one Chinese character is about one token. */
export const BYTES_PER_TOKEN = 4;

/** Estimates the tokens of a text; cheap and deterministic. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Quotes a word for a shell, so that nothing in it is executed or interpreted by the terminal when pasted. */
export function shellQuote(word: string): string {
  if (/^[\w/.][\w@%+=:,./-]*$/.test(word)) return word;
  if (word.search(INVISIBLE_CHARACTERS) === -1) return `'${word.replaceAll("'", "'\\''")}'`;
  // ANSI-C quoting of bash and zsh; other shells reject it.
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(INVISIBLE_CHARACTERS, codeOf);
  return `$'${escaped}'`;
}

function codeOf(sign: string): string {
  const code = (sign.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

/** Quotes the arguments of a command; `--` precedes them if one begins with a dash. */
export function shellArguments(...words: readonly string[]): string {
  const isOver = words.some((word) => word.startsWith('-')) ? ['--'] : [];
  return [...isOver, ...words.map(shellQuote)].join(' ');
}

/** A number with thousands separators: `12,345`. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 tool`, `2 tools`. */
export function pluralize(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}
