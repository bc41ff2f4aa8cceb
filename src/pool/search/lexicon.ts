import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { memoized, stem } from './tokenize.ts';
import { addStopWords, addTranslations, type Dictionary } from './translate.ts';

/** The meanings of words in tool definitions, and their translations. */
export type Lexicon = { concepts: Concepts; dictionary: Dictionary };

let loading: Promise<Lexicon> | undefined;

/** The lexicon, read from the data files at the first call. */
export function loadLexicon(): Promise<Lexicon> {
  loading ??= load();
  return loading;
}

/** Reads the files beside this one. */
async function load(): Promise<Lexicon> {
  const concepts = noConcepts();
  const dictionary: Lexicon['dictionary'] = { words: new Map(), stopWords: new Map() };
  await forEachLine('stop-words.txt', (line) => addStopWords(line, dictionary));
  await forEachLine('languages.txt', (line) => addTranslations(line, dictionary));
  const options = { stopWords: dictionary.stopWords.get('en'), stemOf: memoized(stem) };
  for (const name of ['concepts.txt', 'phrases.txt']) {
    await forEachLine(name, (line) => addConcept(line, concepts, options));
  }
  return { concepts, dictionary };
}

async function forEachLine(name: string, add: (line: string) => void): Promise<void> {
  // The build replaces this call by an import of the text; see scripts/bundle.ts.
  const text = await readFile(new URL(`./data/${name}`, import.meta.url), 'utf8');
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    if (line !== '' && !line.startsWith('#')) add(line);
    // Yields to other work.
    if (at % 100 === 99) await setImmediate();
  }
}

/** The meanings of words in tool definitions. */
export type Concepts = {
  /** A stem, or several joined by spaces, to the lines with its meanings; each line is stored once. */
  meanings: Map<string, readonly Meaning[]>;
  /** The first stems of phrases, and the length of the longest phrase. */
  maxPhraseWords: Map<string, number>;
  /** Phrases by each of their significant stems. */
  phrases: Map<string, Phrase[]>;
};

/** The stems of a line and their closeness, which is lower for stems of phrases. */
type Meaning = { closeness: number; words: readonly string[]; ofPhrases: readonly string[] };

/** A phrase: its key in `meanings` and its significant stems. */
type Phrase = { key: string; stems: readonly string[] };

/** How close a guess is to the word itself. */
const CLOSENESS = { same: 0.95, near: 0.65, oneWay: 0.6 };

/** Small words that change the meaning of a phrase: `log in` and `log out`, `paid` and `not paid`. */
const TURNING = new Set(
  'not no dont doesnt didnt isnt arent wasnt hasnt havent cant couldnt wont without off up down out over under after before against until'.split(
    ' ',
  ),
);

export function noConcepts(): Concepts {
  return { meanings: new Map(), maxPhraseWords: new Map(), phrases: new Map() };
}

/** Whether a word may be omitted from a phrase or occur between its words. */
export function isSmall(word: string, stopWords: ReadonlySet<string> | undefined): boolean {
  return stopWords?.has(word) === true && !TURNING.has(word);
}

/** Which words are significant in a phrase, and their stems. */
type LineOptions = { stopWords?: ReadonlySet<string> | undefined; stemOf?: (word: string) => string };

/** Adds a line of `data/concepts.txt`; the head of the file describes its format. */
export function addConcept(line: string, concepts: Concepts, options: LineOptions = {}): void {
  const { stemOf = stem } = options;
  const { meanings } = concepts;
  const [left = '', right] = line.replaceAll(' = ', ' ').split(' > ');
  const isSame = line.includes(' = ');
  const closeness = isSame ? CLOSENESS.same : right === undefined ? CLOSENESS.near : CLOSENESS.oneWay;
  const phrases = split(right ?? left);
  const words = unique(
    phrases
      .filter(({ length }) => length === 1)
      .flat()
      .map(stemOf),
  );
  // Tools combine the words of a phrase in other ways, so that each word counts.
  const ofPhrases = unique(
    phrases
      .filter(({ length }) => length > 1)
      .flat()
      .map(stemOf),
  );
  const own: readonly Meaning[] = [{ closeness, words, ofPhrases }];
  for (const phrase of split(left)) {
    const key = phrase.map(stemOf).join(' ');
    const known = meanings.get(key);
    if (phrase.length > 1 && known === undefined) addPhrase(key, phrase, concepts, options);
    meanings.set(key, known === undefined ? own : [...known, ...own]);
  }
}

/** The meanings of a stem or a phrase, by closeness. */
export function meaningsOf(key: string, { meanings }: Concepts, share: number): Map<string, number> {
  const closest = new Map<string, number>();
  const raise = (term: string, closeness: number) => {
    if (term !== key && closeness > (closest.get(term) ?? 0)) closest.set(term, closeness);
  };
  for (const { closeness, words, ofPhrases } of meanings.get(key) ?? []) {
    for (const word of words) raise(word, closeness * share);
    for (const word of ofPhrases) raise(word, PART * closeness * share);
  }
  return closest;
}

/** Closeness of a word of a phrase. */
const PART = 0.7;

function unique(terms: readonly string[]): readonly string[] {
  return terms.length === 0 ? NONE : [...new Set(terms)];
}

const NONE: readonly string[] = [];

function split(side: string): string[][] {
  return side.split(' ').map((phrase) => phrase.split('_'));
}

function addPhrase(
  key: string,
  words: readonly string[],
  { maxPhraseWords, phrases }: Concepts,
  { stopWords, stemOf = stem }: LineOptions,
): void {
  const first = stemOf(words[0] ?? '');
  maxPhraseWords.set(first, Math.max(maxPhraseWords.get(first) ?? 0, words.length));
  const stems = words.filter((word) => !isSmall(word, stopWords)).map(stemOf);
  // A single significant word is not a phrase: it would match too often.
  if (stems.length < 2) return;
  const phrase = { key, stems };
  for (const each of new Set(stems)) {
    const known = phrases.get(each);
    if (known) known.push(phrase);
    else phrases.set(each, [phrase]);
  }
}
