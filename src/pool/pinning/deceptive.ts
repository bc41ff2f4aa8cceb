import { cut } from './difference.ts';
import { eachHidden, type HiddenKind } from './hidden.ts';
import { findLookAlikes } from './look-alike.ts';
import { codePoints } from './shown.ts';

/** One trick in one text. */
export type Finding = {
  readonly kind: HiddenKind | 'look-alike';
  /** How often it is there; from 1,000 on it is no longer counted. */
  readonly count: number;
  /** `U+200B`, each once. */
  readonly codePoints: readonly string[];
  /** What tag characters spell, or the words that look like others. */
  readonly spells?: string;
};

/** How often one thing is counted in one text; one that is there more often is not looked through to its end. */
const MOST_COUNTED = 1_000;
/** Longer names are looked through for look-alikes up to here. */
const MOST_OF_NAME = 1_000;

/** Characters that people cannot see or would take for others; look-alikes are only looked for in names. */
export function deceptive(text: string, is: 'name' | 'text' = 'text'): Finding[] {
  const kinds = new Map<HiddenKind, { count: number; all: string }>();
  eachHidden(text, (kind, at, end) => {
    const { count, all } = kinds.get(kind) ?? { count: 0, all: '' };
    kinds.set(kind, { count: count + 1, all: all + text.slice(at, Math.min(end, at + MOST_SHOWN)) });
    return count + 1 < MOST_COUNTED ? 'on' : 'enough';
  });
  const hidden = [...kinds].map(([kind, { count, all }]): Finding => {
    const spells = kind === 'tag' ? spelt(all) : '';
    return { kind, count, codePoints: codePoints(all), ...(spells !== '' && { spells }) };
  });
  if (is === 'text') return hidden;
  return [
    ...hidden,
    ...findLookAlikes(text.slice(0, MOST_OF_NAME)).map(
      ({ word, letters }): Finding => ({
        kind: 'look-alike',
        count: [...letters].length,
        codePoints: codePoints(letters),
        spells: word,
      }),
    ),
  ];
}

/** `2 zero-width characters (U+200B)`. */
export function sayFinding({ kind, count, codePoints: codes, spells }: Finding): string {
  const listed = codes.length > MAX_CODES ? [...codes.slice(0, MAX_CODES), '…'] : codes;
  const spelling = spells === undefined ? '' : kind === 'tag' ? ` that spell "${cut(spells, 60)}"` : '';
  const word = kind === 'look-alike' && spells !== undefined ? ` in "${cut(spells, 60)}"` : '';
  const often = count < MOST_COUNTED ? `${count}` : `at least ${count}`;
  return `${often} ${NAMES[kind][count === 1 ? 0 : 1]}${word} (${listed.join(', ')})${spelling}`;
}

const MAX_CODES = 4;
/** Of one escape sequence, which may go on for long. */
const MOST_SHOWN = 100;

/** What one is called, and several. */
const NAMES: Readonly<Record<Finding['kind'], readonly [string, string]>> = {
  'zero-width': ['zero-width character', 'zero-width characters'],
  bidirectional: ['character that turns the direction of text', 'characters that turn the direction of text'],
  tag: ['invisible tag character', 'invisible tag characters'],
  'variation-selector': ['stray variation selector', 'stray variation selectors'],
  'soft-hyphen': ['soft hyphen', 'soft hyphens'],
  invisible: ['invisible character', 'invisible characters'],
  control: ['control character', 'control characters'],
  'escape-sequence': ['terminal escape sequence', 'terminal escape sequences'],
  'private-use': ['private-use character', 'private-use characters'],
  'no-character': ['code that is no character', 'codes that are no characters'],
  'look-alike': [
    'letter of another alphabet that looks Latin',
    'letters of another alphabet that look Latin',
  ],
};

/** Tag characters are ASCII, moved where nobody sees it. */
function spelt(text: string): string {
  const codes = [...text].map((char) => (char.codePointAt(0) as number) - 0xe0000);
  return String.fromCharCode(...codes.slice(0, 200).filter((code) => code >= 0x20 && code < 0x7f));
}
