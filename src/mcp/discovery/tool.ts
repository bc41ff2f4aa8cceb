import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema, ListedTool } from '../../protocol/mcp.ts';
import { dropInvalidMembers, type MemberRules, parseNamed, RULES, type SizeBudget } from './parse-entry.ts';
import type { ReadEntry } from './read-list.ts';

/**
 * Parses one entry of `tools/list`. Invalid optional members are removed, since the tool works without them; a tool
 * whose arguments are not an object cannot be called and is not offered.
 */
export function parseTool(listed: unknown, room?: SizeBudget): ReadEntry<ListedTool> {
  const named = parseNamed(listed, room);
  if ('fault' in named) return named;
  const { value, name } = named;
  const schema = readSchema(value.inputSchema);
  if ('fault' in schema) return { name, fault: schema.fault };
  const cleaned = dropInvalidMembers(value, OPTIONAL);
  const hints = isRecord(cleaned.value.annotations)
    ? dropInvalidMembers(cleaned.value.annotations, HINTS, 'annotations.')
    : undefined;
  const changed = {
    ...(schema.schema !== value.inputSchema && { inputSchema: schema.schema }),
    ...(hints && hints.value !== value.annotations && { annotations: hints.value }),
  };
  const item = Object.keys(changed).length === 0 ? cleaned.value : { ...cleaned.value, ...changed };
  return {
    item: item as ListedTool,
    name,
    repairs: [...schema.repairs, ...cleaned.repairs, ...(hints?.repairs ?? [])],
  };
}

const OPTIONAL: MemberRules = {
  description: RULES.text,
  title: RULES.text,
  annotations: RULES.object,
  outputSchema: RULES.object,
  icons: RULES.icons,
  execution: RULES.object,
  _meta: RULES.object,
};

/** Hints of trusted servers affect permissions, so only valid ones are kept. */
const HINTS: MemberRules = {
  title: RULES.text,
  readOnlyHint: RULES.flag,
  destructiveHint: RULES.flag,
  idempotentHint: RULES.flag,
  openWorldHint: RULES.flag,
};

type ReadSchema =
  | { readonly schema: JsonSchema; readonly repairs: readonly string[] }
  | { readonly fault: string };

function readSchema(given: unknown): ReadSchema {
  if (isNothing(given)) {
    return { schema: { type: 'object' }, repairs: ['"inputSchema" is missing; any arguments are accepted'] };
  }
  if (!isRecord(given)) return { fault: '"inputSchema" must be an object' };
  const { type } = given;
  const typed = typedSchema(given, type);
  if (!typed) return { fault: '"inputSchema" must have type "object"' };
  const cleaned = dropInvalidMembers(typed, SCHEMA_MEMBERS, 'inputSchema.');
  const isNoted = type !== 'object';
  return {
    schema: cleaned.value,
    repairs: [
      ...(isNoted ? ['"inputSchema" does not have type "object"; type "object" is assumed'] : []),
      ...cleaned.repairs,
    ],
  };
}

/** Some languages write an empty map as an empty list. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === true || isEmptyList(value);
}

/** Arguments are always an object, so a schema without a type, or with several, is narrowed to `object`. */
function typedSchema(schema: Record<string, unknown>, type: unknown): Record<string, unknown> | undefined {
  if (type === 'object') return schema;
  const isOpen = type === undefined || type === null || (Array.isArray(type) && type.includes('object'));
  return isOpen ? { ...schema, type: 'object' } : undefined;
}

/** Schema members that are validated; the rest is passed on unchanged. */
const SCHEMA_MEMBERS: MemberRules = {
  properties: RULES.object,
  required: [
    (value) => Array.isArray(value) && value.every((it) => typeof it === 'string'),
    'a list of strings',
  ],
};

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
