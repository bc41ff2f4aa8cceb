import { stem } from './stem.ts';

/** What words may mean: a stem, or several joined by spaces, to the stems of tools it may stand for. */
export type Concepts = {
  meanings: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Stems that begin a phrase of several words, and the longest such phrase. */
  phrases: ReadonlyMap<string, number>;
};

/** How close a guess is to the word itself. */
const CLOSENESS = { same: 0.95, near: 0.65, oneWay: 0.5 };

/** Reads `data/concepts.txt`, whose head says how it is written. */
export function parseConcepts(source: string): Concepts {
  const meanings = new Map<string, Map<string, number>>();
  const phrases = new Map<string, number>();
  const mean = (from: string, to: string, closeness: number) => {
    const key = stems(from).join(' ');
    const known = meanings.get(key) ?? new Map<string, number>();
    meanings.set(key, known);
    // Of a phrase every word is meant, each a little less: tools put them together in their own way.
    const meant = stems(to);
    for (const word of meant) {
      if (word === key) continue;
      const amount = closeness * (meant.length === 1 ? 1 : 0.7);
      known.set(word, Math.max(known.get(word) ?? 0, amount));
    }
    const [first = '', ...more] = stems(from);
    if (more.length > 0) phrases.set(first, Math.max(phrases.get(first) ?? 0, more.length + 1));
  };
  for (const line of source.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const isSame = line.includes(' = ');
    const [left = '', right] = line.replaceAll(' = ', ' ').split(' > ');
    const closeness = isSame ? CLOSENESS.same : right === undefined ? CLOSENESS.near : CLOSENESS.oneWay;
    for (const from of left.split(' ')) {
      for (const to of (right ?? left).split(' ')) if (from !== to) mean(from, to, closeness);
    }
  }
  return { meanings, phrases };
}

function stems(phrase: string): string[] {
  return phrase.split('_').map(stem);
}
