import { isRecord } from '../base/json-value.ts';
import type { JsonSchema } from '../protocol/mcp.ts';
import { isPlainJson } from './pinning/hidden.ts';
import { visible } from './pinning/shown.ts';

/**
 * The schema without characters that people cannot see, in the texts a model reads; names and values that a call must
 * match stay as they are. The same object if there are none.
 */
export function visibleSchema(schema: JsonSchema): JsonSchema {
  if (isPlainJson(JSON.stringify(schema))) return schema;
  // The same text is often there many times, and slow to look through.
  const known = new Map<string, string>();
  const clean = (text: string): string => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const cleaned = visible(text);
    known.set(text, cleaned);
    return cleaned;
  };
  return cleaned(schema, 'keywords', clean) as JsonSchema;
}

/** `keys` tells what the keys of an object are: a property may have the name of any keyword. */
function cleaned(value: unknown, keys: 'keywords' | 'names', clean: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((it) => cleaned(it, 'keywords', clean));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, it]): [string, unknown] => {
    if (keys === 'names') return [key, cleaned(it, 'keywords', clean)];
    if (VALUES.has(key)) return [key, it];
    if (TEXTS.has(key) && typeof it === 'string') return [key, clean(it)];
    return [key, cleaned(it, NAMED.has(key) ? 'names' : 'keywords', clean)];
  });
  return Object.fromEntries(members);
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);
