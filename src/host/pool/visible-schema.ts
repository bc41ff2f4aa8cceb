import { isRecord } from '../../base/is-record.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { isPlainJson } from '../pin/hidden.ts';
import { visible } from '../pin/shown.ts';

/**
 * The schema without characters that people cannot see, in the texts a model reads; names and values that a call must
 * match stay as they are. The same object if there are none.
 */
export function visibleSchema(schema: JsonSchema): JsonSchema {
  return isPlainJson(JSON.stringify(schema)) ? schema : (cleaned(schema) as JsonSchema);
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, it]): [string, unknown] => {
    if (VALUES.has(key)) return [key, it];
    return [key, TEXTS.has(key) && typeof it === 'string' ? visible(it) : cleaned(it)];
  });
  return Object.fromEntries(members);
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
