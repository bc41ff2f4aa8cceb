import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { addConcept, noConcepts } from './concepts.ts';
import { addStopWords, addTranslations } from './dictionary.ts';
import type { Knowledge } from './read-query.ts';
import { remembered } from './remember.ts';
import { stem } from './stem.ts';

/** What is known about words. Import this when it is needed: the files are read then, once. */
export const KNOWLEDGE = await load();

/** From the files beside this one; without them, words only mean themselves. */
async function load(): Promise<Knowledge> {
  const concepts = noConcepts();
  const dictionary: Knowledge['dictionary'] = { words: new Map(), stopWords: new Map() };
  await forEachLine('stop-words.txt', (line) => addStopWords(line, dictionary));
  await forEachLine('languages.txt', (line) => addTranslations(line, dictionary));
  const options = { stopWords: dictionary.stopWords.get('en'), stemOf: remembered(stem) };
  for (const name of ['concepts.txt', 'phrases.txt']) {
    await forEachLine(name, (line) => addConcept(line, concepts, options));
  }
  return { concepts, dictionary };
}

async function forEachLine(name: string, add: (line: string) => void): Promise<void> {
  const lines = (await read(name)).split('\n');
  for (const [at, line] of lines.entries()) {
    if (line !== '' && !line.startsWith('#')) add(line);
    // Others can work between.
    if (at % 100 === 99) await setImmediate();
  }
}

/** Whoever bundles the package into one file may have left the data behind. */
async function read(name: string): Promise<string> {
  try {
    return await readFile(new URL(`./data/${name}`, import.meta.url), 'utf8');
  } catch {
    return '';
  }
}
