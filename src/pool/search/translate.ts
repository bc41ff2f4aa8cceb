import { lacksSpaces } from './tokenize.ts';

/** One word of a query and the English words that it may mean. */
export type Translated = { word: string; english: readonly string[] };

/** The language that most words of a text belong to; English in case of doubt. `isEnglish` is true for terms of tools. */
export function languageOf(
  words: readonly string[],
  { stopWords, words: known }: Dictionary,
  isEnglish: (word: string) => boolean = () => false,
): string {
  if (words.some((word) => /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word))) return 'ja';
  if (words.some((word) => /\p{Script=Han}/u.test(word))) return 'zh';
  if (words.some((word) => /\p{Script=Hangul}/u.test(word))) return 'ko';
  if (words.some((word) => /\p{Script=Cyrillic}/u.test(word))) return 'ru';
  let best = { language: 'en', hits: 0 };
  const folded = words.map(plain);
  for (const [language, stops] of stopWords) {
    const own = known.get(language);
    let hits = 0;
    for (const [at, word] of folded.entries()) {
      if (stops.has(word)) hits += 1;
      else if (own?.has(word) || (language === 'en' && isEnglish(words[at] ?? ''))) hits += 0.6;
    }
    if (hits > best.hits) best = { language, hits };
  }
  return best.language;
}

/** The meanings of words of another language; stop words are dropped, names and unknown words stay. */
export function translate(words: readonly string[], language: string, dictionary: Dictionary): Translated[] {
  const known = dictionary.words.get(language) ?? new Map<string, readonly string[]>();
  const stops = dictionary.stopWords.get(language) ?? new Set<string>();
  const look = lookUp(known);
  const found: Translated[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (lacksSpaces(word)) {
      found.push(...cut(word, known, stops));
      continue;
    }
    const phrase = phraseAt(words, at, known);
    if (phrase) {
      found.push(phrase);
      at += phrase.word.split(' ').length - 1;
      continue;
    }
    const folded = plain(word);
    if (stops.has(folded)) continue;
    if (/\p{Script=Hangul}/u.test(word)) found.push(...cut(word, known, stops));
    else found.push(...(look(folded) ?? compound(folded, look) ?? [{ word: folded, english: [] }]));
  }
  return found;
}

type Words = ReadonlyMap<string, readonly string[]>;
type LookUp = (word: string) => Translated[] | undefined;

function phraseAt(words: readonly string[], at: number, known: Words): Translated | undefined {
  for (let length = 4; length > 1; length--) {
    if (at + length > words.length) continue;
    const word = words
      .slice(at, at + length)
      .map(plain)
      .join(' ');
    const english = known.get(word);
    if (english) return { word, english };
  }
  return undefined;
}

/** Splits text without spaces from left to right by the longest match. */
function cut(run: string, known: Words, stops: ReadonlySet<string>): Translated[] {
  const characters = [...run];
  const found: Translated[] = [];
  let rest = '';
  const leave = () => {
    if ([...rest].length > 1) found.push({ word: rest, english: [] });
    rest = '';
  };
  for (let at = 0; at < characters.length; ) {
    const length = knownPrefixLength(characters, at, known, stops);
    if (length === 0) {
      rest += characters[at];
      at += 1;
      continue;
    }
    leave();
    const word = characters.slice(at, at + length).join('');
    const english = known.get(word);
    if (english) found.push({ word, english });
    at += length;
  }
  leave();
  return found;
}

function knownPrefixLength(
  characters: readonly string[],
  at: number,
  known: Words,
  stops: ReadonlySet<string>,
) {
  for (let length = Math.min(8, characters.length - at); length > 0; length--) {
    const word = characters.slice(at, at + length).join('');
    if (known.has(word) || stops.has(word)) return length;
  }
  return 0;
}

/** Looks up a word; also finds inflected forms, which differ from a known word in the last letters. */
function lookUp(known: Words): LookUp {
  return (word) => {
    const exact = known.get(word);
    if (exact) return [{ word, english: exact }];
    if (word.length < 4) return undefined;
    let best: { word: string; english: readonly string[]; distance: number } | undefined;
    for (const [entry, english] of known) {
      if (entry.length < 4 || entry.includes(' ') || entry[0] !== word[0]) continue;
      const shared = sharedStart(entry, word);
      if (shared < 4 || shared < 0.6 * Math.max(entry.length, word.length)) continue;
      const distance = entry.length + word.length - 2 * shared;
      if (entry.length - shared > 3 || word.length - shared > 4) continue;
      if (best === undefined || distance < best.distance) best = { word: entry, english, distance };
    }
    return best && [{ word, english: best.english }];
  };
}

function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

/** Splits a compound as in German and Dutch: two known words with up to two letters between them. */
function compound(word: string, look: LookUp): Translated[] | undefined {
  for (let at = word.length - 3; at >= 3; at--) {
    const right = look(word.slice(at));
    if (!right) continue;
    const left = word.slice(0, at);
    const first = look(left) ?? look(left.replace(/(?:es|en|s|n)$/, ''));
    if (first) return [...first, ...right];
  }
  return undefined;
}
/** Words of other languages and the English words that tools use for them. */
export type Dictionary = {
  /** By language: a word, or a phrase joined by spaces, to its English words. */
  words: Map<string, Map<string, readonly string[]>>;
  /** By language: stop words. */
  stopWords: Map<string, Set<string>>;
};

/** The columns of `data/languages.txt`, in their order. */
const LANGUAGES = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'ru', 'zh', 'ja', 'ko'] as const;

/** Adds a line of `data/languages.txt`; the head of the file describes its format. */
export function addTranslations(line: string, { words }: Dictionary): void {
  const [english = '', ...cells] = line.split('|');
  const translations = english.trim().split(' ');
  for (const [at, cell] of cells.entries()) {
    const language = LANGUAGES[at] ?? '';
    const known = words.get(language) ?? new Map<string, readonly string[]>();
    words.set(language, known);
    for (const word of cell.trim().split(' ')) {
      if (word === '') continue;
      const phrase = plain(word.replaceAll('_', ' '));
      const before = known.get(phrase);
      known.set(phrase, before === undefined ? translations : [...new Set([...before, ...translations])]);
    }
  }
}

/** Adds a line of `data/stop-words.txt`. */
export function addStopWords(line: string, { stopWords }: Dictionary): void {
  const [language = '', ...list] = line.split(' ');
  stopWords.set(language, new Set(list.map(plain)));
}

/** Removes accents, which are often omitted; Japanese and Korean marks are parts of letters. */
function plain(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?<=[a-zа-я])[\u0300-\u036f]/g, '')
    .normalize('NFC');
}
