import type { PooledTool } from '../pool.ts';
import { type Act, actOf } from './acts.ts';
import { termsOf, toolTerms } from './tool-terms.ts';
import { toolText } from './tool-text.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A tool as it is searched. */
export type Entry = {
  tool: PooledTool;
  server: string;
  /** The terms of the server's key, by number. */
  serverTerms: readonly number[];
  act: Act | undefined;
  /** Names as they are compared: see `fold`. */
  ownName: string;
  poolName: string;
  /** A term each: its number, a bit that says it is in the tool's own name, and eight bits of how much it says. */
  postings: Uint32Array;
};

/** Reads a tool into numbers, and counts its terms. */
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
    act: actOf(texts.name, stemOf),
    ownName: fold(texts.name),
    poolName: fold(tool.name),
    postings,
  };
}

/** Takes back what `makeEntry` counted. */
export function dropEntry({ postings }: Entry, vocabulary: Vocabulary): void {
  for (const posting of postings) vocabulary.release(posting >>> 9);
}

/** A name as people type it: neither case nor what stands between the words matters. */
export function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_\-./:]+/g, '');
}
