import { readFile } from 'node:fs/promises';
import { parseConcepts } from './concepts.ts';
import { parseDictionary } from './dictionary.ts';
import type { Knowledge } from './read-query.ts';

/** What is known about words, from the files beside this one; without them, words only mean themselves. */
export async function loadKnowledge(): Promise<Knowledge> {
  const [concepts, languages, stopWords] = await Promise.all([
    read('concepts.txt'),
    read('languages.txt'),
    read('stop-words.txt'),
  ]);
  return { concepts: parseConcepts(concepts), dictionary: parseDictionary(languages, stopWords) };
}

/** Whoever bundles the package into one file may have left the data behind. */
async function read(name: string): Promise<string> {
  try {
    return await readFile(new URL(`./data/${name}`, import.meta.url), 'utf8');
  } catch {
    return '';
  }
}
