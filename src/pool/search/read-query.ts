import { type Concepts, isSmall, meaningsOf } from './concepts.ts';
import type { Dictionary } from './dictionary.ts';
import { findPhrases, type Said } from './phrases.ts';
import { type QueryTerm, readShapes } from './shapes.ts';
import { characterPairs, joinedNames, lacksSpaces, splitWords } from './split-words.ts';
import { stem } from './stem.ts';
import { languageOf, type Translated, translate } from './translate.ts';

/** What is known about words, whoever searches. */
export type Knowledge = { concepts: Concepts; dictionary: Dictionary };

/** What a translation is to the word itself. */
const TRANSLATED = 0.9;
/** As close as this, a term is what was said, in whatever language. */
const SAID = 0.89;
/** What the words of a known phrase count by themselves: together they may mean something else. */
const IN_PHRASE = 0.6;
/** What a phrase is worth that was put together from translated words. */
const TRANSLATED_PHRASE = 0.8;

/** Who says something no tool speaks of looks for it. */
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

/** A model writes the query; some shapes are looked for in time by the square of its length. */
const MAX_QUERY_LENGTH = 2000;

/** What a text asks for: its words, and what they may mean to a tool. `isKnown` tells which terms tools have. */
export function readQuery(
  given: string,
  knowledge: Knowledge,
  isKnown: (term: string) => boolean,
): QueryTerm[] {
  const text = given.slice(0, MAX_QUERY_LENGTH);
  const words = [...splitWords(text), ...joinedNames(text)];
  const language = languageOf(words, knowledge.dictionary, (word) => isKnown(stem(word)));
  const terms = language === 'en' ? english(words, knowledge, isKnown) : foreign(words, language, knowledge);
  return distinct([...terms, ...readShapes(text)]);
}

function english(
  words: readonly string[],
  { concepts, dictionary }: Knowledge,
  isKnown: (term: string) => boolean,
): QueryTerm[] {
  const stops = dictionary.stopWords.get('en');
  const content = words.filter((word) => !stops?.has(word));
  const said = words.map((word) => ({ stems: [stem(word)], isSmall: isSmall(word, stops) }));
  const phrases = findPhrases(said, concepts);
  const inPhrases = new Set(phrases.flatMap(({ places }) => places.map((place) => words[place])));
  const terms: QueryTerm[] = phrases.map(({ key, share }) => ({
    weight: share,
    options: meaningsOf(key, concepts, 1),
  }));
  for (const [at, word] of words.entries()) {
    if (stops?.has(word)) continue;
    // Some write apart what others write together.
    const joined = stem(`${word}${words[at + 1] ?? ''}`);
    if (at + 1 < words.length && isKnown(joined)) {
      terms.push({ weight: 1, options: withMeanings(joined, concepts, 1) });
    }
    const weight = inPhrases.has(word) ? IN_PHRASE : 1;
    terms.push({ weight, options: withMeanings(stem(word), concepts, 1) });
  }
  // A single strange word is more likely a slip than a need.
  const isStrange = (word: string) => !isKnown(stem(word)) && !concepts.meanings.has(stem(word));
  if (content.length > 1 && content.some(isStrange)) terms.push(LOOKED_FOR);
  return terms;
}

function foreign(
  words: readonly string[],
  language: string,
  { concepts, dictionary }: Knowledge,
): QueryTerm[] {
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

function inEnglish({ word, english }: Translated, stops: ReadonlySet<string> | undefined): Said {
  const parts = english.flatMap((meant) => meant.split('_')).filter((part) => !isSmall(part, stops));
  return { stems: (parts.length === 0 ? [word] : parts).map(stem), isSmall: false };
}

function translations({ word, english }: Translated, concepts: Concepts): Map<string, number> {
  const options = new Map<string, number>();
  if (lacksSpaces(word)) for (const pair of characterPairs(word)) raise(options, pair, 0.8);
  else raise(options, stem(word), 1);
  for (const meant of english) {
    const parts = meant.split('_').map(stem);
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

/** A word said twice is asked for once, and what was said is no guess for another word. */
function distinct(terms: readonly QueryTerm[]): QueryTerm[] {
  const said = new Set<string>();
  for (const { options } of terms) {
    for (const [term, closeness] of options) if (closeness >= SAID) said.add(term);
  }
  const byKey = new Map<string, QueryTerm>();
  for (const { weight, options } of terms) {
    const left = new Map([...options].filter(([term, closeness]) => closeness >= SAID || !said.has(term)));
    if (left.size > 0) byKey.set([...left.keys()].join(' '), { weight, options: left });
  }
  return [...byKey.values()];
}
