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
  | 'examples'
  | 'drop';

/** The keywords of draft 2020-12 that have a form to keep; any other passes as it is. */
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
    examples: 'examples',
    drop: '$anchor $dynamicAnchor $id $recursiveAnchor $schema $vocabulary id',
  } satisfies Record<KeywordKind, string>).flatMap(([kind, names]) =>
    names.split(' ').map((name): [string, KeywordKind] => [name, kind as KeywordKind]),
  ),
);

/** Keywords that allow or forbid nothing, so they stay beside a reference of any draft; unknown ones are like them. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$comment default deprecated description examples readOnly title writeOnly'.split(' '),
);

/** Keywords that decide about values without being in the table of forms. */
export const OTHER_ASSERTIONS: ReadonlySet<string> = new Set('const type $ref'.split(' '));

/** The types of JSON Schema. */
export const TYPES: ReadonlySet<unknown> = new Set(
  'array boolean integer null number object string'.split(' '),
);

/** The draft that first knew a keyword: an older one ignores it, so it must not come to life. */
export const SINCE: ReadonlyMap<string, number> = new Map(
  Object.entries({
    6: 'const contains propertyNames',
    7: 'else if then',
    2019: 'dependentRequired dependentSchemas maxContains minContains unevaluatedItems unevaluatedProperties',
    2020: 'prefixItems',
  }).flatMap(([draft, names]) => names.split(' ').map((name): [string, number] => [name, Number(draft)])),
);

/** The draft a schema declares; without a word MCP means 2020-12. */
export function draftOf(schema: { readonly [key: string]: unknown }): number {
  const declared = schema.$schema;
  const found = typeof declared === 'string' ? /\/draft-0([3467])\/|\/draft\/(20\d\d)-/.exec(declared) : null;
  return found === null ? 2020 : Number(found[1] ?? found[2]);
}
