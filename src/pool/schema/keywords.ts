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
