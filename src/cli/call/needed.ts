import type { JsonSchema } from '../../protocol/mcp.ts';
import { firstLine } from '../tools/tool-table.ts';
import { choicesOf, declared, memberOf, typesOf } from './declared.ts';
import { sayChoices, sayTypes } from './typed-value.ts';

const MOST_LINES = 50;

/** What a tool requires and nobody named: a line each, with its type and what it is for; so many that one can read them. */
export function missingLines(named: ReadonlySet<string>, schema: JsonSchema): string[] {
  const input = declared(schema, schema);
  const required = Array.isArray(schema.required)
    ? schema.required.filter((it) => typeof it === 'string')
    : [];
  const missing = required.filter((name) => !named.has(name));
  const lines = missing.slice(0, MOST_LINES).map((name) => {
    const member = memberOf(input, name);
    const choices = choicesOf(member);
    const type = choices.length > 0 ? `one of ${sayChoices(choices)}` : sayTypes(typesOf(member));
    const what = member.forms.map(({ description }) => description).find((it) => typeof it === 'string');
    const text = typeof what === 'string' ? firstLine(what) : '';
    return `it needs ${name}: ${type}${text === '' ? '' : ` (${text})`}`;
  });
  const more = missing.length - lines.length;
  return more > 0 ? [...lines, `it needs ${more} more`] : lines;
}
