import { characterPairs, joinedNames, lacksSpaces, splitWords } from './split-words.ts';
import { stem } from './stem.ts';
import type { Field } from './tool-text.ts';

/** How much a term says about a tool, from 0 to 1, and whether it is in the tool's own name. */
export type Amount = { amount: number; isName: boolean };

/** What one word counts by where it stands, and beyond how many words a single one counts less. */
const FIELDS: Readonly<Record<Field, { weight: number; usual: number }>> = {
  name: { weight: 5, usual: 4 },
  title: { weight: 2.5, usual: 4 },
  hint: { weight: 3, usual: 8 },
  lead: { weight: 2.2, usual: 14 },
  rest: { weight: 0.8, usual: 60 },
  parameter: { weight: 0.7, usual: 10 },
  detail: { weight: 0.3, usual: 80 },
  server: { weight: 1.2, usual: 2 },
};

/** How soon saying it again adds nothing. */
const SATURATION = 1.5;
/** What a server's own name is worth in the names of its tools: it tells none of them apart. */
const PREFIX_WORTH = 0.2;

/** All tools of a server are its tools, however often each says so. */
const SERVER_AMOUNT = 0.6;

/** The terms of a tool. */
export function toolTerms(texts: Record<Field, string>, stemOf = stem): Map<string, Amount> {
  const terms = new Map<string, Amount>();
  const server = new Set(termsOf(texts.server, stemOf));
  for (const field of Object.keys(FIELDS) as Field[]) {
    const found = termsOf(texts[field], stemOf);
    const { weight, usual } = FIELDS[field];
    const each = Math.min(weight, weight / (0.4 + (0.6 * found.length) / usual));
    for (const term of found) {
      const isPrefix = field === 'name' && server.has(term);
      const known = terms.get(term) ?? { amount: 0, isName: false };
      terms.set(term, known);
      known.amount += isPrefix ? PREFIX_WORTH * each : each;
      known.isName ||= field === 'name' && !isPrefix;
    }
  }
  for (const [term, known] of terms) {
    known.amount = server.has(term) ? SERVER_AMOUNT : known.amount / (known.amount + SATURATION);
  }
  return terms;
}

/** The stems of a text, runs without spaces as pairs of characters, names of several words also as one. */
export function termsOf(text: string, stemOf = stem): string[] {
  const terms: string[] = [];
  if (text === '') return terms;
  for (const word of splitWords(text)) {
    if (lacksSpaces(word)) terms.push(...characterPairs(word));
    else terms.push(stemOf(word));
  }
  for (const name of joinedNames(text)) terms.push(stemOf(name));
  return terms;
}
