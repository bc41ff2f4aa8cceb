import type { JsonSchema } from '../../protocol/mcp.ts';
import { firstLine } from '../tools/tool-table.ts';
import { choicesOf, declared, memberOf, typesOf } from './declared.ts';
import { sayTypes } from './typed-value.ts';

/** What a tool requires and nobody named: a line each, with its type and what it is for. */
export function missingLines(named: ReadonlySet<string>, schema: JsonSchema): string[] {
  const input = declared(schema, schema);
  const required = Array.isArray(schema.required)
    ? schema.required.filter((it) => typeof it === 'string')
    : [];
  return required
    .filter((name) => !named.has(name))
    .map((name) => {
      const member = memberOf(input, name);
      const choices = choicesOf(member);
      const type =
        choices.length > 0 ? `one of ${choices.map(String).join(', ')}` : sayTypes(typesOf(member));
      const what = member.forms.map(({ description }) => description).find((it) => typeof it === 'string');
      const text = typeof what === 'string' ? firstLine(what) : '';
      return `it needs ${name}: ${type}${text === '' ? '' : ` (${text})`}`;
    });
}
