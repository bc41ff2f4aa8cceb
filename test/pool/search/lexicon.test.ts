import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadLexicon } from '../../../src/pool/search/lexicon.ts';

function lines(name: string): string[] {
  const text = readFileSync(new URL(`../../../src/pool/search/data/${name}`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test.each(['concepts.txt', 'phrases.txt'])(
  'every line of %s is a group, a one-way line or two names',
  (name) => {
    const odd = lines(name).filter((line) => !/^[a-z0-9_]+(?: [>=]? ?[a-z0-9_]+)*$/.test(line));
    expect(odd).toEqual([]);
  },
);

test('every line of translations has a cell for each of the ten languages', () => {
  expect(lines('languages.txt').filter((line) => line.split('|').length !== 11)).toEqual([]);
});

test('the words of ten languages are known', async () => {
  const { concepts, dictionary } = await loadLexicon();
  const sizes = [...dictionary.words].map(([language, words]) => [language, words.size > 1000]);
  expect(sizes).toEqual(['de', 'fr', 'es', 'pt', 'it', 'nl', 'ru', 'zh', 'ja', 'ko'].map((it) => [it, true]));
  expect(concepts.meanings.size).toBeGreaterThan(8000);
});

test('a phrase is written with the apostrophes left out, as queries are read', () => {
  const odd = ['concepts.txt', 'phrases.txt'].flatMap((name) =>
    lines(name).filter((line) => /(?:^|[ _])(?:don|isn|doesn|didn|hasn|haven|couldn|t)(?:[ _]|$)/.test(line)),
  );
  expect(odd).toEqual([]);
});
