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

/** Whether no string in a JSON text can contain hidden characters; false means that they have to be looked for. */
export function isPlainJson(text: string): boolean {
  return PLAIN.test(text) && !/\\[bfu]/.test(text);
}

const PLAIN = /^[\t\n\r\x20-\x7e]*$/;
const ESC = String.fromCharCode(0x1b);
/** Terminal commands as a whole: colors, cursor movements, titles, links. */
const ESCAPES = `(?:${ESC}\\[|\\u009b)[0-?]*[ -/]*[@-~]|${ESC}\\][^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)?|${ESC}[ -/]*[0-~]`;
/** The emoji flags that consist of tag characters: England, Scotland, Wales. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map((code) => {
  const tags = [...code, '\x7f'].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)));
  return `\u{1f3f4}${tags.join('')}`;
});
const ODD = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/u;

/** Everything that may be hidden, and the flags, whose tag characters are not. */
const CANDIDATES = new RegExp(`${FLAGS.join('|')}|${ESCAPES}|(?![\\t\\n\\r])${ODD.source}`, 'gu');

/** Receives hidden characters; returns whether to continue. */
type OnHidden = (kind: HiddenKind, at: number, end: number) => 'on' | 'enough';

/**
 * Reports every hidden character or escape sequence in order. Joiners, variation selectors and direction marks do not
 * count where writing needs them: in emoji, in Persian, Arabic and Indic words, after symbols and ideographs, and beside
 * letters that are written from right to left.
 */
export function eachHidden(text: string, onHidden: OnHidden): void {
  if (isPlain(text)) return;
  /** The end of the last hidden character: the check whether a character is needed considers only text after it. */
  let floor = 0;
  for (const { 0: found, index: at } of text.matchAll(CANDIDATES)) {
    const kind = kindOf(text, at, found, floor);
    if (kind === undefined) continue;
    floor = at + found.length;
    if (onHidden(kind, at, floor) === 'enough') return;
  }
}

function kindOf(text: string, at: number, found: string, floor: number): HiddenKind | undefined {
  if (FLAGS.includes(found)) return undefined;
  if (found.length > 1 && (found[0] === ESC || found[0] === '\u009b')) return 'escape-sequence';
  const kind = KINDS.find(([, pattern]) => pattern.test(found))?.[0] ?? 'invisible';
  const before = text.slice(Math.max(floor, at - 4), at);
  const after = charAt(text, at + found.length);
  return isNeeded(kind, found, before, after) ? undefined : kind;
}

/** The first kind whose pattern matches; other characters are invisible ones. */
const KINDS: readonly (readonly [HiddenKind, RegExp])[] = [
  ['zero-width', /[\u200b-\u200d\u2060-\u2064\ufeff]/u],
  ['bidirectional', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u],
  ['variation-selector', /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u],
  ['tag', /[\u{e0000}-\u{e007f}]/u],
  ['soft-hyphen', /\u00ad/u],
  ['no-character', /\p{Noncharacter_Code_Point}|\p{Cs}/u],
  ['control', /\p{Cc}/u],
  ['private-use', /\p{Co}/u],
];

/** Whether the characters around an invisible one need it to be written correctly. */
function isNeeded(kind: HiddenKind, char: string, before: string, after: string): boolean {
  const last = lastChar(before);
  switch (kind) {
    case 'zero-width':
      return /[\u200c\u200d]/u.test(char) && isNeededJoiner(char, before, after);
    case 'bidirectional':
      return /[\u200e\u200f\u061c]/u.test(char) && (RIGHT_TO_LEFT.test(last) || RIGHT_TO_LEFT.test(after));
    case 'variation-selector':
      // After a symbol it selects the emoji or text style, after an ideograph one of its forms.
      if (/[\ufe0e\ufe0f]/u.test(char)) return /[\p{Emoji}\p{S}\p{Po}]/u.test(last);
      return /[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/u.test(char) && /\p{Ideographic}/u.test(last);
    case 'invisible':
      return /[\u180b-\u180f]/u.test(char) && /\p{Script=Mongolian}/u.test(last);
    default:
      return false;
  }
}

/** Scripts in which joiners and non-joiners control how letters join or stack. */
const JOINING =
  /[\p{Script_Extensions=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script_Extensions=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

function isNeededJoiner(char: string, before: string, after: string): boolean {
  const isJoining = (it: string) => JOINING.test(it) && /[\p{L}\p{M}]/u.test(it);
  const isJoiner = char === '\u200d';
  if (isJoining(lastChar(before))) return isJoining(after) || (isJoiner && !ODD.test(after));
  const isEmoji = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u.test(before);
  return isJoiner && isEmoji && /\p{Extended_Pictographic}/u.test(after);
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function lastChar(text: string): string {
  return /.$/su.exec(text)?.[0] ?? '';
}

/** The text on one line for display, with the code points of hidden characters. */
export function showHidden(text: string): string {
  const shown = replaceHidden(text, (hidden) => `⟨${codePoints(hidden).join(' ')}⟩`);
  return shown.replaceAll(/\s+/gu, ' ').trim();
}

/**
 * The text for models, without hidden characters. They are removed and not spelled out, so that a message hidden in them
 * does not reach the model in any form.
 */
export function stripHidden(text: string): string {
  return replaceHidden(text, () => '');
}

/** `U+200B`, each once, in order of appearance. */
export function codePoints(text: string): string[] {
  return [...new Set(text)].map(
    (char) => `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}

/** `by` receives adjacent hidden characters of one kind together. */
function replaceHidden(text: string, by: (hidden: string) => string): string {
  const parts: string[] = [];
  let run = { start: 0, end: 0, kind: '' };
  const close = () => {
    if (run.end > run.start) parts.push(by(text.slice(run.start, run.end)));
  };
  eachHidden(text, (kind, at, end) => {
    if (kind === run.kind && at === run.end) run.end = end;
    else {
      close();
      parts.push(text.slice(run.end, at));
      run = { start: at, end, kind };
    }
    return 'on';
  });
  close();
  return parts.join('') + text.slice(run.end);
}

/** A word with letters that look like those of another alphabet. */
type LookAlike = { readonly word: string; readonly letters: string };

/**
 * Words that mix Latin letters with look-alikes, or that consist of look-alikes within an otherwise Latin name. Full-width
 * and mathematical variants of Latin letters count as look-alikes.
 */
export function findLookAlikes(name: string): LookAlike[] {
  const words = name.match(/[\p{L}\p{M}]+/gu) ?? [];
  const isLatinElsewhere = words.some((word) => /^[A-Za-z]+$/.test(word));
  return words.flatMap((word) => {
    const letters = [...word].filter((letter) => LOOKS_LATIN.test(letter) || isStyled(letter));
    if (letters.length === 0) return [];
    const looking = new Set(letters);
    const others = [...word].filter((letter) => !looking.has(letter));
    const isMixed = others.some((letter) => /\p{Script=Latin}/u.test(letter));
    const isWhole = others.length === 0 && (isLatinElsewhere || letters.every(isStyled));
    return isMixed || isWhole ? [{ word, letters: [...looking].join('') }] : [];
  });
}

/** Cyrillic, Greek, Armenian and other letters that look like Latin ones in most fonts. */
const LOOKS_LATIN =
  /[аеорсухіјѕԁԛԝһӏѵкмтвнгпАВЕКМНОРСТУХІЈЅԌԚԜҺӀѴΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρυικτγϲϳοսոօցհԼՍՕᎪᏴᏟᎬᎻᎫᏦᏞᎷᎾᏢᏚᎢᏙᎳᏃ]/u;

/** Full-width letters, mathematical letters and similar variants of Latin letters. */
function isStyled(letter: string): boolean {
  return !/[A-Za-z]/.test(letter) && /^[A-Za-z]+$/.test(letter.normalize('NFKC'));
}
