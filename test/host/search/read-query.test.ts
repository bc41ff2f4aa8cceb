import { expect, test } from 'vitest';
import { addConcept, type Concepts } from '../../../src/host/search/concepts.ts';
import { addStopWords, addTranslations, type Dictionary } from '../../../src/host/search/dictionary.ts';
import { readQuery } from '../../../src/host/search/read-query.ts';

const concepts: Concepts = { meanings: new Map(), phrases: new Map() };
for (const line of ['mail email', 'get_rid_of > delete', 'mongo = mongodb', 'verify_domain > check']) {
  addConcept(line, concepts);
}
const dictionary: Dictionary = { words: new Map(), stopWords: new Map() };
addTranslations('delete | löschen lösche | supprimer', dictionary);
addTranslations('log_in | anmelden', dictionary);
addStopWords('en a the of my', dictionary);
addStopWords('de die der', dictionary);

function read(text: string, known: readonly string[] = text.toLowerCase().split(' ')) {
  return readQuery(text, { concepts, dictionary }, (term) => known.includes(term)).map(
    ({ weight, options }) => ({
      weight,
      ...Object.fromEntries([...options].map(([term, closeness]) => [term, Number(closeness.toFixed(2))])),
    }),
  );
}

test.each([
  ['a word and what is near it', 'the mail', [{ weight: 1, email: 0.65, mail: 1 }]],
  ['another name', 'mongo', [{ weight: 1, mongodb: 0.95, mongo: 1 }]],
  [
    'what was said is no guess',
    'mail email',
    [
      { weight: 1, mail: 1 },
      { weight: 1, email: 1 },
    ],
  ],
  ['a word said twice', 'mail mails', [{ weight: 1, email: 0.65, mail: 1 }]],
  ['nothing', 'of the', []],
])('%s', (_, text, terms) => {
  expect(read(text)).toEqual(terms);
});

test('a phrase means what it means, its words count less, and small words may stand between them', () => {
  expect(read('get rid of')[0]).toEqual({ weight: 1, delet: 0.6 });
  expect(read('verify my domain')).toEqual([
    { weight: 1, check: 0.6 },
    { weight: 0.6, verify: 1 },
    { weight: 0.6, domain: 1 },
  ]);
});

test('what is written apart is found together', () => {
  expect(read('hugging face', ['huggingfac', 'hug', 'face'])).toContainEqual({ weight: 1, huggingfac: 1 });
});

test('what no tool speaks of is looked for', () => {
  expect(read('mail zebra', ['mail']).at(-1)).toMatchObject({ weight: 0.5, search: 0.7 });
  expect(read('mail', ['mail'])).toHaveLength(1);
});

test('a word of another language is itself and its translation', () => {
  expect(read('lösche die')).toEqual([{ weight: 1, losch: 1, delet: 0.9 }]);
  expect(read('die anmelden')).toEqual([{ weight: 1, anmelden: 1, log: 0.72, in: 0.72 }]);
});

test.each([
  ['open example.com', 'url'],
  ['see https://x.test/y', 'url'],
  ['who is bob@example.org', 'email'],
  ['where is 10.0.0.1', 'ip'],
  ['read notes.md', 'file'],
])('%s is about: %s', (text, term) => {
  expect(read(text).some((it) => term in it)).toBe(true);
});
