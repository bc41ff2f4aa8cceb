import { stem } from './stem.ts';

/** What words may mean to tools. */
export type Concepts = {
  /** A stem, or several joined by spaces, to the stems it may stand for. */
  meanings: Map<string, Map<string, number>>;
  /** Stems that begin a phrase of several words, and how long the longest such phrase is. */
  phrases: Map<string, number>;
};

/** How close a guess is to the word itself. */
const CLOSENESS = { same: 0.95, near: 0.65, oneWay: 0.6 };

/** Adds a line of `data/concepts.txt`, whose head says how it is written. */
export function addConcept(line: string, concepts: Concepts): void {
  const [left = '', right] = line.replaceAll(' = ', ' ').split(' > ');
  const isSame = line.includes(' = ');
  const closeness = isSame ? CLOSENESS.same : right === undefined ? CLOSENESS.near : CLOSENESS.oneWay;
  const meant = stemmed(right ?? left);
  for (const from of stemmed(left)) for (const to of meant) mean(from, to, closeness, concepts);
}

function stemmed(side: string): string[][] {
  return side.split(' ').map((phrase) => phrase.split('_').map((word) => stem(word)));
}

function mean(
  from: readonly string[],
  to: readonly string[],
  closeness: number,
  { meanings, phrases }: Concepts,
): void {
  const key = from.join(' ');
  const known = meanings.get(key) ?? new Map<string, number>();
  meanings.set(key, known);
  // Of a phrase every word is meant, each a little less: tools put them together in their own way.
  const amount = closeness * (to.length === 1 ? 1 : 0.7);
  for (const word of to) if (word !== key) known.set(word, Math.max(known.get(word) ?? 0, amount));
  const [first = ''] = from;
  if (from.length > 1) phrases.set(first, Math.max(phrases.get(first) ?? 0, from.length));
}
