import { findHidden, type HiddenKind } from './hidden.ts';
import { findLookAlikes } from './look-alike.ts';
import { codePoints, shown } from './shown.ts';

/** One trick in one text. */
export type Finding = {
  readonly kind: HiddenKind | 'look-alike';
  /** How often it is there. */
  readonly count: number;
  /** `U+200B`, each once. */
  readonly codePoints: readonly string[];
  /** What tag characters spell, or the words that look like others. */
  readonly spells?: string;
};

/** Characters that people cannot see or would take for others; look-alikes are only looked for in names. */
export function deceptive(text: string, is: 'name' | 'text' = 'text'): Finding[] {
  const kinds = Map.groupBy(findHidden(text), ({ kind }) => kind);
  const hidden = [...kinds].map(([kind, runs]): Finding => {
    const all = runs.map((run) => run.text).join('');
    const spells = kind === 'tag' ? spelt(all) : '';
    return {
      kind,
      count: kind === 'escape-sequence' ? runs.length : [...all].length,
      codePoints: codePoints(all),
      ...(spells !== '' && { spells }),
    };
  });
  if (is === 'text') return hidden;
  return [
    ...hidden,
    ...findLookAlikes(text).map(
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
  const spelling = spells === undefined ? '' : kind === 'tag' ? ` that spell "${cut(spells)}"` : '';
  const word = kind === 'look-alike' && spells !== undefined ? ` in "${cut(spells)}"` : '';
  return `${count} ${NAMES[kind][count === 1 ? 0 : 1]}${word} (${listed.join(', ')})${spelling}`;
}

const MAX_CODES = 4;

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

function cut(text: string): string {
  const line = shown(text);
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

/** Tag characters are ASCII, moved where nobody sees it. */
function spelt(text: string): string {
  const codes = [...text].map((char) => (char.codePointAt(0) as number) - 0xe0000);
  return String.fromCharCode(...codes.slice(0, 200).filter((code) => code >= 0x20 && code < 0x7f));
}
