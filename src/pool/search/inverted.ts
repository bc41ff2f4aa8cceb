import type { Entry } from './entry.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Who has a term, by its number: `uses` from `starts[number]` to `starts[number + 1]`, in the entries' order. */
export type Inverted = {
  entries: readonly Entry[];
  starts: Uint32Array;
  /** An entry each: its index, a bit that says the term is in its own name, and eight bits of how much it says. */
  uses: Uint32Array;
  rarities: Float32Array;
  /** By entry: the rarities of all terms of its own name. */
  nameWeights: Float32Array;
};

export const NOTHING: Inverted = {
  entries: [],
  starts: new Uint32Array(1),
  uses: new Uint32Array(0),
  rarities: new Float32Array(0),
  nameWeights: new Float32Array(0),
};

/** Turns tools with their terms into terms with their tools; `rest` is awaited now and then. */
export async function invert(
  entries: readonly Entry[],
  vocabulary: Vocabulary,
  rest: () => Promise<void> | undefined,
): Promise<Inverted> {
  const counts = vocabulary.counts();
  const starts = new Uint32Array(counts.length + 1);
  counts.forEach((count, number) => {
    starts[number + 1] = (starts[number] as number) + count;
  });
  const rarities = raritiesOf(counts, entries.length);
  const uses = new Uint32Array(starts[counts.length] as number);
  const nameWeights = new Float32Array(entries.length);
  const next = starts.slice();
  for (let at = 0; at < entries.length; at++) {
    for (const posting of (entries[at] as Entry).postings) {
      const number = posting >>> 9;
      const place = next[number] as number;
      uses[place] = at * 512 + (posting & 511);
      next[number] = place + 1;
      if ((posting & 256) !== 0) nameWeights[at] = (nameWeights[at] as number) + (rarities[number] as number);
    }
    if (at % 256 === 255) await rest();
  }
  return { entries, starts, uses, rarities, nameWeights };
}

/** How much it says that a tool has a term: near 1 if it is the only one, less the more there are. */
function raritiesOf(counts: readonly number[], tools: number): Float32Array {
  const scale = Math.log(1 + 2 * (tools + 0.5));
  return Float32Array.from(counts, (count) => Math.log(1 + (tools + 0.5) / (count + 0.5)) / scale);
}
