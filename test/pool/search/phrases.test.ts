import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addConcept, isSmall, noConcepts } from '../../../src/pool/search/concepts.ts';
import { findPhrases } from '../../../src/pool/search/phrases.ts';

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
