import { type Concepts, isSmall, type Lexicon, meaningsOf } from './lexicon.ts';
import { characterPairs, joinedNames, lacksSpaces, splitWords, stem } from './tokenize.ts';
import { languageOf, type Translated, translate } from './translate.ts';

/** Closeness of a translation to the word itself. */
const TRANSLATED = 0.9;
/** Terms of at least this closeness count as the word itself or its translation. */
const LITERAL = 0.89;
/** Weight of the single words of a known phrase. */
const IN_PHRASE = 0.6;
/** Closeness of a phrase that was put together from translated words. */
const TRANSLATED_PHRASE = 0.8;

/** Added to queries whose words no tool uses: such queries usually ask to search for something. */
const LOOKED_FOR: QueryTerm = {
  weight: 0.3,
  options: new Map([
    ['search', 0.7],
    ['find', 0.5],
    ['ask', 0.5],
    ['query', 0.5],
    ['web', 0.4],
  ]),
};

/** Maximum length of a query: matching some patterns takes time quadratic in the length. */
const MAX_QUERY_LENGTH = 2000;

/** The terms of a query with the meanings they may have in tool definitions; `isKnown` is true for terms that tools use. */
export function expandQuery(
  given: string,
  lexicon: Lexicon,
  isKnown: (term: string) => boolean,
): QueryTerm[] {
  const text = given.slice(0, MAX_QUERY_LENGTH);
  const words = [...splitWords(text), ...joinedNames(text)];
  const language = languageOf(words, lexicon.dictionary, (word) => isKnown(stem(word)));
  const terms = language === 'en' ? english(words, lexicon, isKnown) : foreign(words, language, lexicon);
  return distinct([...terms, ...readShapes(text)]);
}

function english(
  words: readonly string[],
  { concepts, dictionary }: Lexicon,
  isKnown: (term: string) => boolean,
): QueryTerm[] {
  const stops = dictionary.stopWords.get('en');
  const content = words.filter((word) => !stops?.has(word));
  const queryWords = words.map((word) => ({ stems: [stem(word)], isSmall: isSmall(word, stops) }));
  const phrases = findPhrases(queryWords, concepts);
  const inPhrases = new Set(phrases.flatMap(({ places }) => places.map((place) => words[place])));
  const terms: QueryTerm[] = phrases.map(({ key, share }) => ({
    weight: share,
    options: meaningsOf(key, concepts, 1),
  }));
  for (const [at, word] of words.entries()) {
    if (stops?.has(word)) continue;
    // Compounds are written as one word or as two.
    const joined = stem(`${word}${words[at + 1] ?? ''}`);
    if (at + 1 < words.length && isKnown(joined)) {
      terms.push({ weight: 1, options: withMeanings(joined, concepts, 1) });
    }
    const weight = inPhrases.has(word) ? IN_PHRASE : 1;
    terms.push({ weight, options: withMeanings(stem(word), concepts, 1) });
  }
  // A single unknown word is more likely a typing error than a task.
  const isStrange = (word: string) => !isKnown(stem(word)) && !concepts.meanings.has(stem(word));
  if (content.length > 1 && content.some(isStrange)) terms.push(LOOKED_FOR);
  return terms;
}

function foreign(words: readonly string[], language: string, { concepts, dictionary }: Lexicon): QueryTerm[] {
  const translated = translate(words, language, dictionary);
  const stops = dictionary.stopWords.get('en');
  const phrases = findPhrases(
    translated.map((it) => inEnglish(it, stops)),
    concepts,
  );
  return [
    ...phrases.map(({ key, share }) => ({
      weight: TRANSLATED_PHRASE * share,
      options: meaningsOf(key, concepts, 1),
    })),
    ...translated.map((it) => ({ weight: 1, options: translations(it, concepts) })),
  ];
}

function inEnglish({ word, english }: Translated, stops: ReadonlySet<string> | undefined): QueryWord {
  const parts = english.flatMap((meanings) => meanings.split('_')).filter((part) => !isSmall(part, stops));
  return { stems: (parts.length === 0 ? [word] : parts).map(stem), isSmall: false };
}

function translations({ word, english }: Translated, concepts: Concepts): Map<string, number> {
  const options = new Map<string, number>();
  if (lacksSpaces(word)) for (const pair of characterPairs(word)) raise(options, pair, 0.8);
  else raise(options, stem(word), 1);
  for (const meanings of english) {
    const parts = meanings.split('_').map(stem);
    for (const part of parts) {
      const share = parts.length === 1 ? TRANSLATED : 0.8 * TRANSLATED;
      raise(options, part, share);
    }
    for (const [term, closeness] of meaningsOf(parts.join(' '), concepts, TRANSLATED)) {
      raise(options, term, closeness);
    }
  }
  return options;
}

function withMeanings(word: string, concepts: Concepts, share: number): Map<string, number> {
  const options = meaningsOf(word, concepts, share);
  raise(options, word, share);
  return options;
}

function raise(options: Map<string, number>, term: string, closeness: number): void {
  options.set(term, Math.max(options.get(term) ?? 0, closeness));
}

/** Drops repeated terms, and meanings that are also literal terms of the query. */
function distinct(terms: readonly QueryTerm[]): QueryTerm[] {
  const queryWords = new Set<string>();
  for (const { options } of terms) {
    for (const [term, closeness] of options) if (closeness >= LITERAL) queryWords.add(term);
  }
  const byKey = new Map<string, QueryTerm>();
  for (const { weight, options } of terms) {
    const left = new Map(
      [...options].filter(([term, closeness]) => closeness >= LITERAL || !queryWords.has(term)),
    );
    if (left.size > 0) byKey.set([...left.keys()].join(' '), { weight, options: left });
  }
  return [...byKey.values()];
}
/** One term of the query and the terms that may mean the same, by closeness: 1 is the word itself, less is a guess. */
export type QueryTerm = { weight: number; options: ReadonlyMap<string, number> };

/** Patterns for URLs, addresses, file names and the like, and the stems they imply. */
const SHAPES: readonly (readonly [shape: RegExp, meanings: string])[] = [
  [/\bhttps?:\/\/|\b[a-z0-9-]+\.(?:com|org|net|io|dev|de|fr|co|ai|app)\b/i, 'url web page navigat fetch'],
  [/\b(?:youtube\.com|youtu\.be)\//i, 'youtub video'],
  [/[\w.+-]+@[\w-]+\.\w/, 'email user'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/, 'ip address'],
  [/-?\b\d{1,2}\.\d{3,},\s*-?\d{1,3}\.\d{3,}\b/, 'coordinat revers geocod latitud location'],
  // Seconds, or milliseconds, since 1970.
  [/\b1\d{9}(?:\d{3})?\b/, 'timestamp unix date time'],
  [/(?<!\w)\+\d[\d ()-]{7,}\d\b/, 'phone number sms call'],
  [/\bselect (?:\*|count\(|distinct )|\bSELECT [\w.,* ()]+ FROM\b/, 'sql query execut databas'],
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b/, 'commit'],
  [/(?<![\w&])#\d+\b|\b[A-Z]{2,8}-\d+\b/, 'issu ticket pull request'],
  [/\b10\.\d{4,}\/\S|\b\d{4}\.\d{4,5}\b/, 'paper arxiv doi'],
  [
    /\.(?:txt|md|json|ya?ml|csv|log|pdf|docx?|xlsx?|[jt]sx?|py|rb|go|rs|java|html?|css|png|jpe?g|svg|mp[34]|zip|toml|ini|xml)\b/i,
    'file',
  ],
  [/\.(?:png|jpe?g|gif|webp|svg|heic)\b/i, 'imag'],
  [/\.(?:mp4|mov|mkv|webm)\b/i, 'video'],
  [/\.(?:mp3|wav|m4a|ogg)\b/i, 'audio'],
  [/\.xlsx?\b/i, 'excel workbook worksheet sheet'],
  [/\.docx?\b/i, 'word document'],
  [/\.pdf\b/i, 'pdf'],
  [/\.csv\b/i, 'csv tabl'],
];

/** The stems that URLs, addresses, numbers and file names in a query imply. */
export function readShapes(text: string): QueryTerm[] {
  return SHAPES.filter(([shape]) => shape.test(text)).map(([, meanings]) => ({
    weight: 0.7,
    options: new Map(meanings.split(' ').map((term) => [term, 0.6])),
  }));
}

/** A word of a query: its possible stems, the most likely first, and whether a phrase may omit it. */
type QueryWord = { stems: readonly string[]; isSmall: boolean };
/** A phrase by its key, the positions of its words, and its closeness. */
type FoundPhrase = { key: string; places: readonly number[]; share: number };

/** How many other words may occur between the words of a phrase. */
const GAP = 4;
/** Closeness of a phrase whose words are apart or in another order. */
const APART = 0.8;
/** Closeness of a phrase with a missing word, and how many words it must have. */
const INCOMPLETE = 0.4;
const FEWEST = 3;

/** The known phrases of a text: the longest exact one from each word on, or one by its significant words. */
export function findPhrases(queryWords: readonly QueryWord[], concepts: Concepts): FoundPhrase[] {
  const found = new Map<string, FoundPhrase>();
  for (const phrase of wordForWord(queryWords, concepts)) found.set(phrase.key, phrase);
  const places = [...queryWords.keys()].filter((place) => !queryWords[place]?.isSmall);
  for (const at of places.keys()) {
    for (const first of queryWords[places[at] as number]?.stems ?? []) {
      for (const { key, stems } of concepts.phrases.get(first) ?? []) {
        const phrase = within(places, at, queryWords, stems);
        if (phrase && phrase.share > (found.get(key)?.share ?? 0)) found.set(key, { key, ...phrase });
      }
    }
  }
  return [...found.values()];
}

function wordForWord(
  queryWords: readonly QueryWord[],
  { meanings, maxPhraseWords: maxWords }: Concepts,
): FoundPhrase[] {
  const stems = queryWords.map((word) => word.stems[0] ?? '');
  return stems.flatMap((first, at) => {
    for (let length = maxWords.get(first) ?? 0; length > 1; length--) {
      const key = stems.slice(at, at + length).join(' ');
      if (at + length > stems.length || !meanings.has(key)) continue;
      return [{ key, places: Array.from({ length }, (_, next) => at + next), share: 1 }];
    }
    return [];
  });
}

/** Whether the stems occur among the words from a position on, which must be one of them. */
function within(
  places: readonly number[],
  from: number,
  queryWords: readonly QueryWord[],
  stems: readonly string[],
): Omit<FoundPhrase, 'key'> | undefined {
  const end = Math.min(places.length, from + stems.length + GAP);
  const taken: number[] = [];
  let missing = stems.length < FEWEST ? 0 : 1;
  for (const stem of stems) {
    let at = from;
    while (at < end && (taken.includes(at) || !queryWords[places[at] as number]?.stems.includes(stem)))
      at += 1;
    if (at < end) taken.push(at);
    else if (missing-- === 0) return undefined;
  }
  if (!taken.includes(from)) return undefined;
  const isWhole = taken.length === stems.length;
  const isTogether = isWhole && taken.every((at, order) => at === from + order);
  return {
    places: taken.map((at) => places[at] as number),
    share: isTogether ? 1 : isWhole ? APART : INCOMPLETE,
  };
}
