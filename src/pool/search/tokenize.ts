/** Splits text into lower-case words of letters and digits, and runs of scripts without spaces. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  if (PLAIN.test(text)) {
    for (const piece of text.match(PLAIN_PIECE) ?? []) splitCase(piece, words);
    return words;
  }
  for (const piece of text.normalize('NFKC').match(PIECE) ?? []) {
    if (lacksSpaces(piece)) words.push(piece);
    else splitCase(piece, words);
  }
  return words;
}

/** The joined form of a name of several words: `GitHub` is `git hub` and `github`. */
export function joinedNames(text: string): string[] {
  return (text.match(CAMEL) ?? []).map((name) => name.toLowerCase());
}

/** Whether a run of characters must be split by a dictionary: Chinese and Japanese have no spaces. */
export function lacksSpaces(piece: string): boolean {
  return WITHOUT_SPACES.test(piece);
}

/** The pairs of neighboring characters of a run, by which text without spaces is compared. */
export function characterPairs(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

const PLAIN = /^[\t-~]*$/;
const PLAIN_PIECE = /[A-Za-z0-9]+(?:'[A-Za-z]+)?/g;
const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}ー';
const PIECE = new RegExp(`[${CJK}]+|(?:(?![${CJK}])[\\p{L}\\p{M}\\p{N}])+(?:['’]\\p{L}+)*`, 'gu');
const WITHOUT_SPACES = new RegExp(`^[${CJK}]`, 'u');
const CAMEL = /\b(?:[A-Z][a-z]+(?:[A-Z][a-z]*)+\d*|[A-Z]{2,}[a-z]{2,}|[a-z]{1,2}[A-Z][a-z]+)\b/g;
const MAX_WORD_LENGTH = 40;
const MAX_PIECE_LENGTH = 200;

/** Endings after an apostrophe, and words that are also written without it, such as `dont` and `whats`. */
const SHORTENED = /(?<!^(?:what|who|where|how|that))['’](?!t$)\p{L}{1,2}$/iu;

/** `getURLForItems` is `get url for items`, `URLs` are `url`; digits stay with a short word before them: `v4`, `d1`. */
function splitCase(piece: string, words: string[]): void {
  if (/^[a-z]+$/.test(piece)) {
    if (piece.length <= MAX_WORD_LENGTH) words.push(piece);
    return;
  }
  // Splitting very long words would take too long.
  if (piece.length > MAX_PIECE_LENGTH) return;
  const parts = piece
    .replace(SHORTENED, '')
    .replace(/['’]/g, '')
    .replace(/(\p{Lu}{2,})s(?!\p{L})/gu, '$1')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/(\p{L}{4,})(\d)/gu, '$1 $2')
    .toLowerCase()
    .split(' ');
  for (const part of parts) if (part !== '' && part.length <= MAX_WORD_LENGTH) words.push(part);
}
/** The stem of a word, the same for `files`, `filing` and `filed`; not always a word itself. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return IRREGULAR[word] ?? oneSpelling(withoutEnding(withoutPlural(word)));
}

const IRREGULAR: Readonly<Record<string, string>> = {
  sent: 'send',
  made: 'make',
  wrote: 'writ',
  written: 'writ',
  found: 'find',
  built: 'build',
  bought: 'buy',
  paid: 'pay',
  spent: 'spend',
  kept: 'keep',
  took: 'take',
  taken: 'take',
  gone: 'go',
  went: 'go',
  said: 'say',
  told: 'tel',
  sold: 'sel',
  held: 'hold',
  lost: 'lose',
  drawn: 'draw',
  drew: 'draw',
  shown: 'show',
  chosen: 'choos',
  broken: 'break',
  people: 'person',
  children: 'child',
  indices: 'index',
  matrices: 'matrix',
  analysis: 'analyz',
  news: 'news',
  embed: 'embed',
  speed: 'speed',
  setting: 'setting',
  settings: 'setting',
  building: 'building',
  recording: 'recording',
  recordings: 'recording',
  listing: 'listing',
  listings: 'listing',
  grey: 'gray',
  photos: 'photo',
};

function withoutPlural(word: string): string {
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/(?:[^aeiou]|qu)ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:x|ch|sh|ss|zz)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
  for (const ending of ['ing', 'ed']) {
    if (!word.endsWith(ending)) continue;
    const root = word.slice(0, -ending.length);
    if (root.length < 3 || !/[aeiouy]/.test(root)) continue;
    if (ending === 'ed' && root.endsWith('i')) return `${root.slice(0, -1)}y`;
    // `moved` lost its e, `fixed` did not have one, and the doubled letter of `adding` belongs to the word.
    if (root.length === 3) return /[^aeiou][aeiou][^aeiouwxy]$/.test(root) ? `${root}e` : root;
    if (/([bdgklmnprt])\1$/.test(root)) return root.slice(0, -1);
    return withoutE(root);
  }
  return withoutE(word);
}

function withoutE(word: string): string {
  return word.length > 4 ? word.replace(/(?<=[^aeiou])e$/, '') : word;
}

/** Converts British stems to American ones. */
function oneSpelling(root: string): string {
  return root
    .replace(/(?<=.{2})our(?=$|it|abl)/, 'or')
    .replace(/(?<=.{3})is(?=$|ation|er$)/, 'iz')
    .replace(/(?<=[ao])lys(?=$|er$)/, 'lyz')
    .replace(/^centr$/, 'center')
    .replace(/(?<=log)u$|(?<=log)ue$/, '')
    .replace(/ll$/, 'l');
}
/** Caches the result for each word; equal results share one string in memory. */
export function memoized(make: (word: string) => string): (word: string) => string {
  const known = new Map<string, string>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const made = make(word);
    known.set(word, made);
    return made;
  };
}
