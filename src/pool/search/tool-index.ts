import { setImmediate } from 'node:timers/promises';
import type { PooledTool } from '../pool.ts';
import { requestedActions } from './action-kind.ts';
import { expandQuery } from './expand-query.ts';
import { dropEntry, type Entry, fold, invert, makeEntry, NOTHING, Vocabulary } from './inverted-index.ts';
import { loadLexicon } from './lexicon.ts';
import { rank } from './rank.ts';
import { filterOf, type SearchFilter } from './search-query.ts';
import { memoized, stem } from './tokenize.ts';

export type SearchQuery = SearchFilter & {
  text: string;
  /** The maximum number of results; 5 by default. */
  limit?: number;
};
export type SearchHit = { tool: PooledTool; score: number };

/** How long indexing may block other work. */
const SLICE_MS = 4;
/** Longer queries are truncated, so that the time of a search is bounded. */
const MAX_QUERY_LENGTH = 1000;

/** Finds tools by a description of a task. The order of the pool makes no difference. */
export class ToolIndex {
  readonly #vocabulary = new Vocabulary();
  #tools: readonly PooledTool[] = [];
  #index = NOTHING;
  #building: Promise<void> | undefined;

  /** Sets the tools to search. Only changed tools are indexed, in slices between other work. */
  sync(tools: readonly PooledTool[]): void {
    if (tools === this.#tools) return;
    this.#tools = tools;
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined;
    });
  }

  /** Waits for the index to be complete, then ranks. */
  async search({ text, limit = 5, ...filter }: SearchQuery): Promise<SearchHit[]> {
    const lexicon = await loadLexicon();
    while (this.#building !== undefined) await this.#building;
    const asked = text.slice(0, MAX_QUERY_LENGTH);
    const isAskedFor = filterOf(filter);
    const numberOf = (term: string) => this.#vocabulary.numberOf(term);
    const terms = expandQuery(asked, lexicon, (term) => numberOf(term) !== undefined);
    const isAsked = ({ tool }: Entry) => isAskedFor(tool);
    const hits = rank(this.#index, terms, {
      name: fold(asked),
      asked: requestedActions(asked, terms),
      numberOf,
      isAsked,
      limit,
    });
    return hits.map(({ entry, score }) => ({ tool: entry.tool, score }));
  }

  async #build(): Promise<void> {
    // Lets the caller continue first.
    await setImmediate();
    const rest = inSlices();
    const stemOf = memoized(stem);
    let tools: readonly PooledTool[] = [];
    while (tools !== this.#tools) {
      tools = this.#tools;
      const old = new Map(this.#index.entries.map((entry) => [entry.tool.name, entry]));
      const kept = new Set<Entry>();
      const entries: Entry[] = [];
      for (const tool of tools) {
        const known = old.get(tool.name);
        if (known && !kept.has(known) && isSame(known.tool, tool)) {
          kept.add(known);
          entries.push(known.tool === tool ? known : { ...known, tool });
        } else entries.push(makeEntry(tool, this.#vocabulary, stemOf));
        await rest();
      }
      entries.sort(byServer);
      if (kept.size === entries.length && kept.size === this.#index.entries.length) {
        this.#index = { ...this.#index, entries };
        continue;
      }
      for (const entry of this.#index.entries) if (!kept.has(entry)) dropEntry(entry, this.#vocabulary);
      this.#index = await invert(entries, this.#vocabulary, rest);
    }
  }
}

/** Yields to other work when a slice of time is used up. */
function inSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

function isSame(a: PooledTool, b: PooledTool): boolean {
  if (a === b) return true;
  return (
    a.listed === b.listed &&
    a.description === b.description &&
    a.searchHint === b.searchHint &&
    a.origin.kind === b.origin.kind &&
    a.origin.tool === b.origin.tool
  );
}

/** Groups tools by server, which ranking relies on. */
function byServer(a: Entry, b: Entry): number {
  if (a.server !== b.server) return a.server < b.server ? -1 : 1;
  return a.tool.name < b.tool.name ? -1 : 1;
}
