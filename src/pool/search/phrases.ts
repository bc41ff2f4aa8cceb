import type { Concepts } from './concepts.ts';

/** A word of a query: what it may be as a stem, the likeliest first, and whether it can be left out of a phrase. */
export type Said = { stems: readonly string[]; isSmall: boolean };
/** A phrase by its key, where its words stand, and how sure it is that it was meant. */
export type FoundPhrase = { key: string; places: readonly number[]; share: number };

/** How many other words may stand among those of a phrase. */
const GAP = 4;
/** What it is worth if its words stand apart or in another order. */
const APART = 0.8;
/** What it is worth if one of its words is missing, and how many it must have then. */
const INCOMPLETE = 0.4;
const FEWEST = 3;

/** The known phrases of a text: word for word, from each word on the longest, or by the words that count. */
export function findPhrases(said: readonly Said[], concepts: Concepts): FoundPhrase[] {
  const found = new Map<string, FoundPhrase>();
  for (const phrase of wordForWord(said, concepts)) found.set(phrase.key, phrase);
  const places = [...said.keys()].filter((place) => !said[place]?.isSmall);
  for (const at of places.keys()) {
    for (const first of said[places[at] as number]?.stems ?? []) {
      for (const { key, stems } of concepts.phrases.get(first) ?? []) {
        const phrase = within(places, at, said, stems);
        if (phrase && phrase.share > (found.get(key)?.share ?? 0)) found.set(key, { key, ...phrase });
      }
    }
  }
  return [...found.values()];
}

function wordForWord(said: readonly Said[], { meanings, longest }: Concepts): FoundPhrase[] {
  const stems = said.map((word) => word.stems[0] ?? '');
  return stems.flatMap((first, at) => {
    for (let length = longest.get(first) ?? 0; length > 1; length--) {
      const key = stems.slice(at, at + length).join(' ');
      if (at + length > stems.length || !meanings.has(key)) continue;
      return [{ key, places: Array.from({ length }, (_, next) => at + next), share: 1 }];
    }
    return [];
  });
}

/** Whether the stems are among the words from one place on, which must be one of them. */
function within(
  places: readonly number[],
  from: number,
  said: readonly Said[],
  stems: readonly string[],
): Omit<FoundPhrase, 'key'> | undefined {
  const end = Math.min(places.length, from + stems.length + GAP);
  const taken: number[] = [];
  let missing = stems.length < FEWEST ? 0 : 1;
  for (const stem of stems) {
    let at = from;
    while (at < end && (taken.includes(at) || !said[places[at] as number]?.stems.includes(stem))) at += 1;
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
