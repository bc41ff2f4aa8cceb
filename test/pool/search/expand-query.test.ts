import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandQuery, findPhrases, readShapes } from '../../../src/pool/search/expand-query.ts';
import { addConcept, isSmall, noConcepts } from '../../../src/pool/search/lexicon.ts';
import { addStopWords, addTranslations, type Dictionary } from '../../../src/pool/search/translate.ts';

describe('read query', () => {
  const dictionary: Dictionary = { words: new Map(), stopWords: new Map() };
  addTranslations('delete | löschen lösche | supprimer', dictionary);
  addTranslations('log_in | anmelden', dictionary);
  addStopWords('en a the of my', dictionary);
  addStopWords('de die der', dictionary);
  const concepts = noConcepts();
  for (const line of ['mail email', 'get_rid_of > delete', 'mongo = mongodb', 'verify_domain > check']) {
    addConcept(line, concepts, { stopWords: dictionary.stopWords.get('en') });
  }
  addConcept('delete_log > purge', concepts, { stopWords: dictionary.stopWords.get('en') });

  function read(text: string, known: readonly string[] = text.toLowerCase().split(' ')) {
    return expandQuery(text, { concepts, dictionary }, (term) => known.includes(term)).map(
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
    expect(read('mail zebra', ['mail']).at(-1)).toMatchObject({ weight: 0.3, search: 0.7 });
    expect(read('mail', ['mail'])).toHaveLength(1);
  });

  test('a word of another language is itself and its translation', () => {
    expect(read('lösche die')).toEqual([{ weight: 1, losch: 1, delet: 0.9 }]);
    expect(read('die anmelden')).toEqual([{ weight: 1, anmelden: 1, log: 0.72, in: 0.72 }]);
  });

  test('a phrase of translated words is known, and worth less', () => {
    addTranslations('log logs | protokoll', dictionary);
    expect(read('die protokoll lösche')[0]).toEqual({ weight: expect.closeTo(0.64), purg: 0.6 });
  });

  test.each([
    ['open example.com', 'url'],
    ['see https://x.test/y', 'url'],
    ['who is bob@example.org', 'email'],
    ['where is 10.0.0.1', 'ip'],
    ['read notes.md', 'file'],
    ['what is at 48.2082, 16.3738', 'geocod'],
    ['when was 1735689600', 'timestamp'],
    ['ring +49 30 1234567', 'phone'],
    ['run SELECT name FROM users', 'sql'],
    ['what came with 3f2a91bc', 'commit'],
    ['close #12', 'issu'],
    ['summary of 10.1000/xyz', 'paper'],
    ['make logo.png smaller', 'imag'],
    ['totals of sales.xlsx', 'sheet'],
  ])('%s is about: %s', (text, term) => {
    expect(read(text).some((it) => term in it)).toBe(true);
  });

  test.each(['version 1.2.3 of 2026', 'facade of a building', 'select a card', '5,000 people'])(
    '%s has no such form',
    (text) => {
      expect(readShapes(text)).toEqual([]);
    },
  );

  test.each(['a-', '-', 'A', 'a.'])('a query of a million characters %j is read at once', (unit) => {
    const read = expandQuery(unit.repeat(1_000_000 / unit.length), { concepts, dictionary }, () => false);
    expect(read.length).toBeLessThan(1000);
  });
});

describe('phrases', () => {
  const SMALL = new Set(['the', 'a', 'of', 'my', 'in', 'it', 'not', 'out', 'dont']);
  const LINES = [
    'money_back > refund',
    'get_rid_of > delete',
    'log_out > session',
    'dont_send_newsletter > cancel',
    'look_at_the_night_sky > star',
  ];

  function find(text: string) {
    const concepts = noConcepts();
    for (const line of LINES) addConcept(line, concepts, { stopWords: SMALL });
    const said = text.split(' ').map((word) => ({ stems: word.split('/'), isSmall: isSmall(word, SMALL) }));
    return findPhrases(said, concepts).map(({ key, places, share }) => [key, places.join(' '), share]);
  }

  test.each<[string, string, unknown[]]>([
    ['word for word', 'money back', [['money back', '0 1', 1]]],
    ['with small words between', 'my money of the back', [['money back', '1 4', 1]]],
    ['with other words between', 'money we want back', [['money back', '0 3', 0.8]]],
    ['in another order', 'back comes my money', [['money back', '3 0', 0.8]]],
    ['not if far apart', 'money one two three four five back', []],
    ['not if a word of two is missing', 'money', []],
    ['with one word of many missing', 'look night sky', [['look at the night sky', '0 1 2', 0.4]]],
    ['not by half of them', 'night sky', []],
    ['small words as they stand', 'get rid of', [['get rid of', '0 1 2', 1]]],
    ['not without a word that turns it round', 'log it', []],
    ['with the word that turns it round', 'log it out', [['log out', '0 2', 1]]],
    ['by any word that may be meant', 'x/money y/back', [['money back', '0 1', 1]]],
    ['the same word does not count twice', 'money money', []],
  ])('a phrase is found %s', (_, text, found) => {
    expect(find(text)).toEqual(found);
  });

  test('a phrase that is found has its words in the text', () => {
    const words = fc.constantFrom('money', 'back', 'look', 'at', 'the', 'night', 'sky', 'send', 'dont', 'x');
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 12 }), (text) => {
        for (const [key, places, share] of find(text.join(' '))) {
          const own = String(key).split(' ');
          const found = String(places).split(' ');
          expect(new Set(found).size).toBe(found.length);
          for (const place of found) expect(own).toContain(text[Number(place)]);
          expect([0.4, 0.8, 1]).toContain(share);
        }
      }),
    );
  });
});
