import type { Concepts } from './concepts.ts';
import type { Dictionary } from './dictionary.ts';
import { characterPairs, joinedNames, lacksSpaces, splitWords } from './split-words.ts';
import { stem } from './stem.ts';
import { languageOf, translate } from './translate.ts';

/** One thing the query is about, and every term that would mean it: 1 is the word itself, less is a guess. */
export type QueryTerm = { weight: number; options: ReadonlyMap<string, number> };

/** What is known about words, whoever searches. */
export type Knowledge = { concepts: Concepts; dictionary: Dictionary };

/** What a text asks for: its words, and what they may mean to a tool. `isKnown` tells which terms tools have. */
export function readQuery(
  text: string,
  { concepts, dictionary }: Knowledge,
  isKnown: (term: string) => boolean,
): QueryTerm[] {
  const words = [...splitWords(text), ...joinedNames(text)];
  const language = languageOf(words, dictionary, (word) => isKnown(stem(word)));
  const terms: QueryTerm[] = [];
  if (language === 'en') {
    const stems = words.map(stem);
    const stops = dictionary.stopWords.get('en') ?? new Set();
    for (let at = 0; at < words.length; at++) {
      const phrase = phraseAt(stems, at, concepts);
      const word = stems[at] as string;
      const joined = at + 1 < words.length ? stem(`${words[at]}${words[at + 1]}`) : '';
      if (phrase) terms.push({ weight: 1, options: meaningsOf(phrase, concepts, 1) });
      if (isKnown(joined)) terms.push({ weight: 1, options: withMeanings(joined, concepts, 1) });
      if (stops.has(words[at] as string)) continue;
      terms.push({ weight: 1, options: withMeanings(word, concepts, 1) });
    }
  } else {
    for (const { word, english } of translate(words, language, dictionary)) {
      const options = new Map<string, number>();
      if (lacksSpaces(word)) for (const pair of characterPairs(word)) options.set(pair, 0.8);
      else merge(options, stem(word), 1);
      const share = 0.9;
      for (const meant of english) {
        const parts = meant.split('_').map(stem);
        for (const [term, closeness] of parts.length > 1
          ? meaningsOf(parts.join(' '), concepts, share)
          : withMeanings(parts[0] as string, concepts, share))
          merge(options, term, closeness);
        if (parts.length > 1) for (const part of parts) merge(options, part, share * 0.8);
      }
      terms.push({ weight: 1, options });
    }
  }
  return distinct(terms);
}

function phraseAt(stems: readonly string[], at: number, { meanings, phrases }: Concepts): string | undefined {
  const longest = phrases.get(stems[at] as string) ?? 0;
  for (let length = longest; length > 1; length--) {
    const phrase = stems.slice(at, at + length).join(' ');
    if (meanings.has(phrase)) return phrase;
  }
  return undefined;
}

function withMeanings(word: string, concepts: Concepts, share: number): Map<string, number> {
  return merge(meaningsOf(word, concepts, share), word, share);
}

function meaningsOf(key: string, { meanings }: Concepts, share: number): Map<string, number> {
  return new Map([...(meanings.get(key) ?? [])].map(([term, closeness]) => [term, closeness * share]));
}

function merge(options: Map<string, number>, term: string, closeness: number): Map<string, number> {
  return options.set(term, Math.max(options.get(term) ?? 0, closeness));
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

/** As close as this, a term is what was said, in whatever language. */
const SAID = 0.89;
