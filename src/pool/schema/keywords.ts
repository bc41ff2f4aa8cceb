import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';

/** What the value of a keyword has to be; `drop` is for keywords that a model has no use for. */
export type KeywordKind =
  | 'schema'
  | 'schemas'
  | 'map'
  | 'count'
  | 'number'
  | 'step'
  | 'flag'
  | 'text'
  | 'names'
  | 'name-lists'
  | 'values'
  | 'value'
  | 'examples'
  | 'drop';

/** The keywords of draft 2020-12 with the kind of their values; other keys are passed on unchanged. */
export const KEYWORDS: ReadonlyMap<string, KeywordKind> = new Map(
  Object.entries({
    schema:
      'additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties',
    schemas: 'allOf anyOf oneOf prefixItems',
    map: '$defs dependentSchemas patternProperties properties',
    count: 'maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties',
    number: 'exclusiveMaximum exclusiveMinimum maximum minimum',
    step: 'multipleOf',
    flag: 'deprecated readOnly uniqueItems writeOnly',
    text: '$comment contentEncoding contentMediaType description format pattern title',
    names: 'required',
    'name-lists': 'dependentRequired',
    values: 'enum',
    value: 'const default',
    examples: 'examples',
    drop: '$anchor $dynamicAnchor $id $recursiveAnchor $schema $vocabulary definitions id',
  } satisfies Record<KeywordKind, string>).flatMap(([kind, names]) =>
    names.split(' ').map((name): [string, KeywordKind] => [name, kind as KeywordKind]),
  ),
);

/** Keywords that neither allow nor forbid any value. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$comment default deprecated description examples readOnly title writeOnly'.split(' '),
);

/** The types of JSON Schema. */
export const TYPES: ReadonlySet<unknown> = new Set(
  'array boolean integer null number object string'.split(' '),
);

/** Keywords that drafts up to 7 do not know and therefore ignore. */
export const SINCE_2019: ReadonlySet<string> = new Set(
  'dependentRequired dependentSchemas maxContains minContains prefixItems unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);

/** Whether a schema declares a draft up to 7, which ignores keywords beside a `$ref`. Without `$schema`, MCP means 2020-12. */
export function isOldDraft({ $schema }: { readonly [key: string]: unknown }): boolean {
  return typeof $schema === 'string' && /\/draft-0[3467]\//.test($schema);
}

export type Schema = { readonly [key: string]: unknown };

/** The record with some values replaced; `undefined` removes a key, and new keys are added last. */
export function withChanges(record: Schema, changes: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(record)) {
    const value = changes.has(key) ? changes.get(key) : record[key];
    if (value !== undefined) entries.push([key, value]);
  }
  for (const [key, value] of changes) {
    if (value !== undefined && !Object.hasOwn(record, key)) entries.push([key, value]);
  }
  // Unlike an assignment, this creates an ordinary property for `__proto__`.
  return Object.fromEntries(entries);
}

/** The record with each value mapped; the same object if no value changed. */
export function mapValues(record: Schema, map: (value: unknown, key: string) => unknown): Schema {
  let changes: Map<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const value = record[key];
    const next = map(value, key);
    if (next === value) continue;
    changes ??= new Map();
    changes.set(key, next);
  }
  return changes === undefined ? record : withChanges(record, changes);
}

/** The list with each item mapped; the same array if no item changed. */
export function mapItems(list: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  let isChanged = false;
  const mapped = list.map((item) => {
    const next = map(item);
    if (next !== item) isChanged = true;
    return next;
  });
  return isChanged ? mapped : list;
}

/** A valid schema with each of its direct subschemas mapped; the same object if none changed. */
export function mapSubschemas(schema: Schema, map: (sub: Schema) => Schema): Schema {
  const one = (value: unknown): unknown => (isRecord(value) ? map(value) : value);
  return mapValues(schema, (value, key) => {
    const kind = KEYWORDS.get(key);
    if (kind === 'schema') return one(value);
    if (kind === 'schemas' && Array.isArray(value)) return mapItems(value, one);
    if (kind === 'map' && isRecord(value)) return mapValues(value, one);
    return value;
  });
}

/** The schema with a sentence added to its description. */
export function withNote(schema: Schema, note: string): Record<string, unknown> {
  const before = schema.description;
  const description = typeof before === 'string' && before.trim() !== '' ? `${before} ${note}` : note;
  return withChanges(schema, new Map([['description', description]]));
}

/** Note for constraints that cannot be described more exactly. */
export const FURTHER_CONDITIONS = 'Additional constraints apply; the server validates them.';

const MAX_NOTE_LENGTH = 500;

/** A note that quotes a dropped condition as JSON, if it is short. */
export function describeCondition(lead: string, condition: unknown): string {
  const json = JSON.stringify(condition);
  return json.length > MAX_NOTE_LENGTH || !isWritable(condition) ? FURTHER_CONDITIONS : `${lead} ${json}.`;
}

/** Whether a value can be written as JSON: `1e400` is parsed as infinity, which would be written as null. */
export function isWritable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isWritable);
}

/** Thrown when a schema exceeds a limit; `normalForm` catches it. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** A root that accepts any arguments, with the reason in its description after the original description. */
export function openRoot(schema: unknown, why: string): Record<string, unknown> {
  const text = isRecord(schema) ? schema.description : undefined;
  const root = {
    type: 'object',
    ...(typeof text === 'string' && { description: truncate(text, MAX_DESCRIPTION_LENGTH) }),
    properties: {},
  };
  return withNote(root, why);
}

/** Note for a schema that is too large to be sent to a model. */
export const TOO_LARGE = 'The input schema is too large to be included; the server validates the arguments.';

/** Note for a schema that is too deep for recursive code. */
export const TOO_DEEP =
  'The input schema is nested too deeply to be included; the server validates the arguments.';

const MAX_DESCRIPTION_LENGTH = 4000;
