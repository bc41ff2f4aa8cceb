import type { PooledTool } from '../pool.ts';
import { type ActionKind, actionKindOf } from './action-kind.ts';
import { termsOf, toolTerms, toolText } from './tool-terms.ts';

/** A tool as it is searched. */
export type Entry = {
  tool: PooledTool;
  server: string;
  /** The terms of the server's key, by number. */
  serverTerms: readonly number[];
  action: ActionKind | undefined;
  /** Names as they are compared: see `fold`. */
  ownName: string;
  poolName: string;
  /** One per term: its number, a bit for terms of the tool's own name, and eight bits of weight. */
  postings: Uint32Array;
};

/** Indexes a tool and counts its terms. */
export function makeEntry(tool: PooledTool, vocabulary: Vocabulary, stemOf: (word: string) => string): Entry {
  const texts = toolText(tool);
  const terms = toolTerms(texts, stemOf);
  const postings = new Uint32Array(terms.size);
  let at = 0;
  for (const [term, { amount, isName }] of terms) {
    postings[at++] = vocabulary.take(term) * 512 + (isName ? 256 : 0) + Math.round(amount * 255);
  }
  const serverTerms = termsOf(texts.server, stemOf).map((term) => vocabulary.numberOf(term) ?? -1);
  return {
    tool,
    server: texts.server,
    serverTerms,
    action: actionKindOf(texts.name, stemOf),
    ownName: fold(texts.name),
    poolName: fold(tool.name),
    postings,
  };
}

/** Undoes the counting of `makeEntry`. */
export function dropEntry({ postings }: Entry, vocabulary: Vocabulary): void {
  for (const posting of postings) vocabulary.release(posting >>> 9);
}

/** A name for comparison, without case and separators. */
export function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_\-./:]+/g, '');
}

/** The entries of each term number: `uses` from `starts[number]` to `starts[number + 1]`, in the order of the entries. */
export type Inverted = {
  entries: readonly Entry[];
  starts: Uint32Array;
  /** One per entry: its index, a bit for terms of its own name, and eight bits of weight. */
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

/** Builds the index from terms to tools; `rest` is awaited to yield to other work. */
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

/** Inverse document frequency of each term: near 1 for a term of one tool, less the more tools have it. */
function raritiesOf(counts: readonly number[], tools: number): Float32Array {
  const scale = Math.log(1 + 2 * (tools + 0.5));
  return Float32Array.from(counts, (count) => Math.log(1 + (tools + 0.5) / (count + 0.5)) / scale);
}
/** Numbers for terms, and how many tools have each; numbers of unused terms are reused. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  readonly #terms: (string | undefined)[] = [];
  readonly #counts: number[] = [];
  readonly #free: number[] = [];

  numberOf(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** Counts one more tool that has the term. */
  take(term: string): number {
    let number = this.#numbers.get(term);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#terms.length;
      this.#numbers.set(term, number);
      this.#terms[number] = term;
      this.#counts[number] = 0;
    }
    this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    return number;
  }

  /** Counts one tool less. */
  release(number: number): void {
    const left = (this.#counts[number] ?? 0) - 1;
    this.#counts[number] = left;
    const term = this.#terms[number];
    if (left > 0 || term === undefined) return;
    this.#numbers.delete(term);
    this.#terms[number] = undefined;
    this.#free.push(number);
  }

  /** By number: how many tools have the term. */
  counts(): readonly number[] {
    return this.#counts;
  }
}
