/** Kinds of hidden characters. */
export type HiddenKind =
  | 'zero-width'
  | 'bidirectional'
  | 'tag'
  | 'variation-selector'
  | 'soft-hyphen'
  | 'invisible'
  | 'control'
  | 'escape-sequence'
  | 'private-use'
  | 'no-character';

/** Fast check for printable ASCII and white space, which nearly every text consists of. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** Whether no string in a JSON text can hide anything; one that has to be looked at closer is not plain. */
export function isPlainJson(text: string): boolean {
  return PLAIN.test(text) && !/\\[bfu]/.test(text);
}

const PLAIN = /^[\t\n\r\x20-\x7e]*$/;
const ESC = String.fromCharCode(0x1b);
/** What terminals take as commands, whole: colours, cursor, titles, links. */
const ESCAPES = new RegExp(
  `(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]|${ESC}\\][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)?|${ESC}[ -/]*[0-~]?`,
  'uy',
);
const ODD = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/u;
const VARIATION = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const ZERO_WIDTH = /[\u200b-\u200d\u2060-\u2064\ufeff]/u;

/** What may be hidden, or begins a flag; all between such characters is passed over at once. */
const NEXT = new RegExp(`(?![\\t\\n\\r])(?:${ODD.source}|\\u{1f3f4})`, 'gu');

/** Receives hidden characters; returns whether to continue. */
type OnHidden = (kind: HiddenKind, at: number, end: number) => 'on' | 'enough';

/**
 * Tells every hidden character or sequence, from the first to the last. Joiners and selectors are none where writing needs
 * them: in emoji, in Persian, Arabic and Indic words, after symbols and ideographs, and direction marks beside letters that
 * run from right to left.
 */
export function eachHidden(text: string, onHidden: OnHidden): void {
  if (isPlain(text)) return;
  /** What was found ends here: nothing leans on it. */
  let floor = 0;
  for (let from = 0; ; ) {
    NEXT.lastIndex = from;
    const match = NEXT.exec(text);
    if (!match) return;
    const { 0: char, index: at } = match;
    const command = char === ESC || char === '\u009b' ? escapeAt(text, at) : '';
    const flag = char === FLAG ? neededFlag(text, at) : 0;
    from = at + Math.max(command.length, flag, char.length);
    if (char === FLAG) continue;
    const kind = command.length > 1 ? 'escape-sequence' : oddKind(text, at, char, floor);
    if (kind === undefined) continue;
    floor = from;
    if (onHidden(kind, at, from) === 'enough') return;
  }
}

function escapeAt(text: string, at: number): string {
  ESCAPES.lastIndex = at;
  return ESCAPES.exec(text)?.[0] ?? '';
}

function oddKind(text: string, at: number, char: string, floor: number): HiddenKind | undefined {
  const always = ALWAYS.get(char);
  if (always !== undefined) return always;
  const before = charBefore(text, at, floor);
  const after = charAt(text, at + char.length);
  if (char === '\u200c' || char === '\u200d') {
    return isNeededJoiner(char, text.slice(Math.max(floor, at - 4), at), after) ? undefined : 'zero-width';
  }
  if (char === '\u200e' || char === '\u200f' || char === '\u061c') {
    return isRightToLeft(before) || isRightToLeft(after) ? undefined : 'bidirectional';
  }
  if (VARIATION.test(char)) return isNeededSelector(char, before) ? undefined : 'variation-selector';
  if (BIDI.test(char)) return 'bidirectional';
  if (ZERO_WIDTH.test(char)) return 'zero-width';
  if (/[\u{e0000}-\u{e007f}]/u.test(char)) return 'tag';
  if (char === '\u00ad') return 'soft-hyphen';
  if (/[\u180b-\u180f]/u.test(char)) return /\p{Script=Mongolian}/u.test(before) ? undefined : 'invisible';
  if (/\p{Noncharacter_Code_Point}|\p{Cs}/u.test(char)) return 'no-character';
  if (/\p{Cc}/u.test(char)) return 'control';
  return /\p{Co}/u.test(char) ? 'private-use' : 'invisible';
}

/** Fast path for frequent characters that no script needs. */
const ALWAYS: ReadonlyMap<string, HiddenKind> = new Map([
  ['\u200b', 'zero-width'],
  ['\u2060', 'zero-width'],
  ['\ufeff', 'zero-width'],
  ['\u202e', 'bidirectional'],
  ['\u00ad', 'soft-hyphen'],
]);

/** Scripts in which joiners and non-joiners control how letters join or stack. */
const JOINING =
  /[\p{Script_Extensions=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script_Extensions=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

function isNeededJoiner(char: string, before: string, after: string): boolean {
  const isJoining = (it: string) => JOINING.test(it) && /[\p{L}\p{M}]/u.test(it);
  if (isJoining(charBefore(before, before.length, 0)))
    return isJoining(after) || (char === '\u200d' && !ODD.test(after));
  const isEmoji = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u.test(before);
  return char === '\u200d' && isEmoji && /\p{Extended_Pictographic}/u.test(after);
}

/** One after a symbol chooses how it is drawn, one after an ideograph which of its forms. */
function isNeededSelector(char: string, before: string): boolean {
  if (char === '\ufe0e' || char === '\ufe0f') return /[\p{Emoji}\p{S}\p{Po}]/u.test(before);
  if (/[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/u.test(char)) return /\p{Ideographic}/u.test(before);
  return false;
}

function isRightToLeft(char: string): boolean {
  return /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(char);
}

const FLAG = '\u{1f3f4}';
/** The flags that are drawn from tag characters: England, Scotland, Wales. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map(
  (code) =>
    `${FLAG}${[...code, '\x7f'].map((unit) => String.fromCodePoint(0xe0000 + unit.charCodeAt(0))).join('')}`,
);

/** How long the flag is that begins here; 0 for none. */
function neededFlag(text: string, at: number): number {
  return FLAGS.find((flag) => text.startsWith(flag, at))?.length ?? 0;
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function charBefore(text: string, at: number, floor: number): string {
  if (at <= floor) return '';
  const pair = at - 2 >= floor ? charAt(text, at - 2) : '';
  return pair.length === 2 ? pair : charAt(text, at - 1);
}

/** The text for people's eyes, on one line: what is hidden stands there as its code points. */
export function showHidden(text: string): string {
  const parts = replaceHidden(text, (hidden) => `⟨${codePoints(hidden).join(' ')}⟩`);
  return parts.replaceAll(/\s+/gu, ' ').trim();
}

/**
 * The text as a model is to read it: without what people cannot see. Removed, not spelt out: a message hidden in such
 * characters should not reach the model in any form. Emoji and words that need joiners stay as they are.
 */
export function stripHidden(text: string): string {
  return replaceHidden(text, () => '');
}

/** `U+200B`, each once, in the order in which they come. */
export function codePoints(text: string): string[] {
  return [...new Set(text)].map(
    (char) => `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}

/** `by` is given what stands together and is of one kind. */
function replaceHidden(text: string, by: (hidden: string) => string): string {
  const made: string[] = [];
  let [from, end, last] = [0, 0, ''];
  const close = () => {
    if (end > from) made.push(by(text.slice(from, end)));
  };
  eachHidden(text, (kind, at, until) => {
    if (kind !== last || at !== end) {
      close();
      made.push(text.slice(end, at));
      from = at;
    }
    [end, last] = [until, kind];
    return 'on';
  });
  close();
  return end === 0 ? text : made.join('') + text.slice(end);
}
