import { actionFactors, type RequestedActions } from './action-kind.ts';
import type { QueryTerm } from './expand-query.ts';
import type { Entry, Inverted } from './inverted-index.ts';

export type Ranked = { entry: Entry; score: number };

export type RankOptions = {
  /** The query as a name: tools that have exactly this name come first. */
  name: string;
  numberOf: (term: string) => number | undefined;
  isAsked: (entry: Entry) => boolean;
  limit: number;
  asked: RequestedActions;
};

/** Weight of a server's name in the query, if no other server uses the word. */
const SERVER_WORTH = 0.4;
/** Weight of the share of a tool's name that the query covers. */
const NAME_WORTH = 1;
/** Rarity of a query word that no tool has. */
const UNKNOWN_RARITY = 0.2;
/** Weight of each further term with the same meaning. */
const FURTHER = 0.15;
/** Minimum closeness of a query word to count as the name of a server. */
const IS_NAME = 0.8;
/** Minimum weight of a server whose whole name is in the query. */
const WHOLE_NAME = 0.8;

/** Score of a tool whose exact name is the query; above every other score. */
const EXACT_NAME_SCORE = 10;

/** The best entries, best first: exact names, then the entries that share terms with the query. */
export function rank(index: Inverted, terms: readonly QueryTerm[], options: RankOptions): Ranked[] {
  const named = exactNames(index, options);
  const ranked = rankByTerms(index, terms, options).filter(({ entry }) => !named.includes(entry));
  const hits = [...named.map((entry) => ({ entry, score: EXACT_NAME_SCORE })), ...ranked];
  return hits.slice(0, Math.max(0, options.limit));
}

function exactNames({ entries }: Inverted, { name, isAsked }: RankOptions): Entry[] {
  if (name === '') return [];
  return entries.filter((entry) => (entry.ownName === name || entry.poolName === name) && isAsked(entry));
}

function rankByTerms(index: Inverted, terms: readonly QueryTerm[], options: RankOptions): Ranked[] {
  const numbered = terms.map(({ weight, options: meanings }) => ({
    weight,
    meanings: numbers(meanings, options),
  }));
  const scores = shares(index, numbered);
  const closest = closestOf(numbered);
  addNames(scores, index, closest);
  addServers(scores, index, closest);
  const kept = actionFactors(options.asked);
  for (let at = 0; at < scores.length; at++) {
    const act = index.entries[at]?.action;
    if (act !== undefined) scores[at] = (scores[at] as number) * kept[act];
  }
  return best(index, scores, options);
}

type Numbered = { weight: number; meanings: (readonly [number: number, closeness: number])[] };

function numbers(meanings: ReadonlyMap<string, number>, { numberOf }: RankOptions): Numbered['meanings'] {
  return [...meanings].flatMap(([term, closeness]) => {
    const number = numberOf(term);
    return number === undefined ? [] : [[number, closeness] as const];
  });
}

/** By entry: the share of the query that it matches. Of several terms with the same meaning, the best one counts most. */
function shares(index: Inverted, terms: readonly Numbered[]): Float32Array {
  const { entries, rarities } = index;
  const scores = new Float32Array(entries.length);
  const found = new Float32Array(entries.length);
  const sums = new Float32Array(entries.length);
  let total = 0;
  for (const { weight, meanings } of terms) {
    let strongest = UNKNOWN_RARITY;
    for (const [number, closeness] of meanings) {
      const worth = closeness * (rarities[number] as number);
      strongest = Math.max(strongest, worth);
      forEachUse(index, number, (at, use) => {
        const value = (worth * (use & 255)) / 255;
        sums[at] = (sums[at] as number) + value;
        if (value > (found[at] as number)) found[at] = value;
      });
    }
    total += weight * strongest;
    for (const [number] of meanings) {
      forEachUse(index, number, (at) => {
        const value = (1 - FURTHER) * (found[at] as number) + FURTHER * (sums[at] as number);
        scores[at] = (scores[at] as number) + weight * value;
        found[at] = 0;
        sums[at] = 0;
      });
    }
  }
  return total === 0 ? scores : scores.map((score) => score / total);
}

/** By number: how close the term is to a word of the query. */
function closestOf(terms: readonly Numbered[]): Map<number, number> {
  const closest = new Map<number, number>();
  for (const { meanings } of terms) {
    for (const [number, closeness] of meanings)
      closest.set(number, Math.max(closest.get(number) ?? 0, closeness));
  }
  return closest;
}

function addNames(scores: Float32Array, index: Inverted, closest: ReadonlyMap<number, number>): void {
  const named = new Float32Array(scores.length);
  for (const [number, closeness] of closest) {
    const worth = closeness * (index.rarities[number] as number);
    forEachUse(index, number, (at, use) => {
      if ((use & 256) !== 0) named[at] = (named[at] as number) + worth;
    });
  }
  for (let at = 0; at < scores.length; at++) {
    const of = index.nameWeights[at] as number;
    if (of > 0) scores[at] = (scores[at] as number) * (1 + (NAME_WORTH * (named[at] as number)) / of);
  }
}

/** Raises the tools of servers that the query names; the more servers use a word, the less it counts as a name. */
function addServers(scores: Float32Array, index: Inverted, closest: ReadonlyMap<number, number>): void {
  const { entries } = index;
  let all = 0;
  for (let at = 0; at < entries.length; at++) if (entries[at]?.server !== entries[at - 1]?.server) all += 1;
  const worths = new Map<number, number>();
  let worth = 0;
  for (let at = 0; at < entries.length; at++) {
    const { server, serverTerms } = entries[at] as Entry;
    if (server !== entries[at - 1]?.server) {
      worth = 0;
      for (const number of serverTerms) {
        const closeness = closest.get(number) ?? 0;
        if (closeness < IS_NAME) continue;
        const rarity =
          worths.get(number) ?? Math.log((all + 1) / serversWith(index, number)) / Math.log(all + 1);
        worths.set(number, rarity);
        worth = Math.max(worth, closeness * rarity ** 1.5);
      }
      const isWhole = serverTerms.every((number) => (closest.get(number) ?? 0) >= IS_NAME);
      if (isWhole && serverTerms.length > 1) worth = Math.max(worth, WHOLE_NAME);
    }
    if (worth > 0) scores[at] = (scores[at] as number) + SERVER_WORTH * worth;
  }
}

/** Counts servers with a term; entries of one server are adjacent. */
function serversWith(index: Inverted, number: number): number {
  let count = 0;
  let last: string | undefined;
  forEachUse(index, number, (at) => {
    const server = index.entries[at]?.server;
    if (server !== last) count += 1;
    last = server;
  });
  return Math.max(1, count);
}

function forEachUse(
  { starts, uses }: Inverted,
  number: number,
  visit: (at: number, use: number) => void,
): void {
  const end = starts[number + 1] as number;
  for (let place = starts[number] as number; place < end; place++) {
    const use = uses[place] as number;
    visit(use >>> 9, use);
  }
}

function best({ entries }: Inverted, scores: Float32Array, { isAsked, limit }: RankOptions): Ranked[] {
  const top: Ranked[] = [];
  for (let at = 0; at < entries.length && limit > 0; at++) {
    const score = scores[at] as number;
    const last = top[limit - 1];
    if (score <= 0 || (last !== undefined && score < last.score)) continue;
    const found = { entry: entries[at] as Entry, score };
    if (!isAsked(found.entry)) continue;
    const place = top.findIndex((it) => isBefore(found, it));
    top.splice(place < 0 ? top.length : place, 0, found);
    if (top.length > limit) top.pop();
  }
  return top;
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.score !== b.score ? a.score > b.score : a.entry.tool.name < b.entry.tool.name;
}
