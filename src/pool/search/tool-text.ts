import { isRecord } from '../../base/json-value.ts';
import type { PooledTool } from '../pool.ts';

/** Where words about a tool stand: what its name says counts more than what a parameter's description does. */
export type Field = 'name' | 'title' | 'hint' | 'lead' | 'rest' | 'parameter' | 'detail' | 'server';

/** Longest text of one field that is read, in characters: what matters stands first. */
const LONGEST = 3000;
const MOST_PARAMETERS = 100;
const MOST_DETAILS = 60;
const DEEPEST = 3;

/** What is said about a tool, by field. Nothing a server declares makes it throw. */
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
    rest: full.slice(lead.length, lead.length + LONGEST),
    parameter: parameters.join(' ').slice(0, LONGEST),
    detail: details.join(' ').slice(0, LONGEST),
    server: origin.kind === 'mcp' ? origin.server : '',
  };
}

/** The first sentence or line: what the tool does, before when and how to use it. */
function leadOf(description: string): string {
  const begin = description.search(/\S/);
  if (begin < 0) return '';
  const end = /[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=[-*#])/.exec(
    description.slice(begin, begin + LONGEST_LEAD),
  );
  return description.slice(0, begin + (end === null ? LONGEST_LEAD : end.index + 1));
}

const LONGEST_LEAD = 240;

function collectParameters(schema: unknown, names: string[], details: string[], depth: number): void {
  if (!isRecord(schema) || depth > DEEPEST || details.length > MOST_DETAILS) return;
  if (isRecord(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties).slice(0, MOST_PARAMETERS)) {
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
  return typeof value === 'string' ? value.slice(0, 2 * LONGEST) : '';
}
