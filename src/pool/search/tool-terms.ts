import { isRecord } from '../../base/json-value.ts';
import type { PooledTool } from '../pool.ts';
import { characterPairs, joinedNames, lacksSpaces, splitWords, stem } from './tokenize.ts';

/** The weight of a term for a tool, from 0 to 1, and whether the tool's own name contains it. */
type Amount = { amount: number; isName: boolean };

/** The weight of one word by field, and the number of words beyond which each one counts less. */
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

/** How quickly repetitions of a word stop adding weight. */
const SATURATION = 1.5;
/** Weight factor of the server's name in tool names, where it does not distinguish tools. */
const PREFIX_WORTH = 0.2;

/** Weight of the server's name for each of its tools. */
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

/** The stems of a text; text without spaces as pairs of characters, names of several words also as one. */
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

/** The fields of a tool that are indexed, with different weights. */
type Field = 'name' | 'title' | 'hint' | 'lead' | 'rest' | 'parameter' | 'detail' | 'server';

/** How many characters of one field are indexed. */
const MAX_FIELD_LENGTH = 3000;
const MAX_PARAMETERS = 100;
const MAX_DETAILS = 60;
const MAX_DEPTH = 3;

/** The texts of a tool by field. Does not throw for any definition. */
export function toolText({ description, listed, origin, searchHint }: PooledTool): Record<Field, string> {
  const full = text(description);
  const lead = leadOf(full);
  const parameters: string[] = [];
  const details: string[] = [];
  collectParameters(listed.inputSchema, parameters, details, 0);
  return {
    name: text(origin.tool),
    title: `${text(listed.title)} ${text(listed.annotations?.title)}`,
    hint: `${text(searchHint)} ${text(listed._meta?.['toolplane/searchHint'])}`,
    lead,
    rest: full.slice(lead.length, lead.length + MAX_FIELD_LENGTH),
    parameter: parameters.join(' ').slice(0, MAX_FIELD_LENGTH),
    detail: details.join(' ').slice(0, MAX_FIELD_LENGTH),
    server: origin.kind === 'mcp' ? origin.server : '',
  };
}

/** The first sentence or line: what the tool does, before when and how to use it. */
function leadOf(description: string): string {
  const begin = description.search(/\S/);
  if (begin < 0) return '';
  const end = /[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=[-*#])/.exec(
    description.slice(begin, begin + MAX_LEAD_LENGTH),
  );
  return description.slice(0, begin + (end === null ? MAX_LEAD_LENGTH : end.index + 1));
}

const MAX_LEAD_LENGTH = 240;

function collectParameters(schema: unknown, names: string[], details: string[], depth: number): void {
  if (!isRecord(schema) || depth > MAX_DEPTH || details.length > MAX_DETAILS) return;
  if (isRecord(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties).slice(0, MAX_PARAMETERS)) {
      (depth < 2 ? names : details).push(name);
      if (!isRecord(property)) continue;
      details.push(text(property.description).slice(0, 200), ...words(property.enum));
      collectParameters(property, names, details, depth + 1);
      collectParameters(property.items, names, details, depth + 1);
    }
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[key];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches.slice(0, 10)) collectParameters(branch, names, details, depth + 1);
  }
}

function words(values: unknown): string[] {
  return Array.isArray(values) ? values.slice(0, 20).map(text) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 2 * MAX_FIELD_LENGTH) : '';
}
