import fc from 'fast-check';

const NAME = fc.constantFrom('a', 'b', 'c', 'd<');
const SCALAR = fc.constantFrom<unknown>(0, 1, 2, 3.5, 'x', 'long text', true, null);
const VALUE = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    SCALAR,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(NAME, tie('value'), { maxKeys: 3 }),
  ),
})).value;
/** Arguments of a tool call. */
export const ARGUMENTS = fc.dictionary(NAME, VALUE, { maxKeys: 4 });

/** The drafts that the validators of these tests support. */
export type Draft = 7 | 2020;
const SIMPLE = fc.constantFrom<Record<string, unknown>>(
  {},
  { type: 'string' },
  { type: 'number', minimum: 1 },
  { type: ['integer', 'null'] },
  { enum: [1, 'x'] },
  { const: 2 },
  { type: 'object' },
  { type: 'array' },
);

/** Keywords that cannot be evaluated with the schema alone, so that the normal form omits them. */
const UNKNOWN = fc.constantFrom<Record<string, unknown>>(
  { $ref: 'https://example.com/s.json' },
  { pattern: '(' },
  { type: 'number', pattern: '(' },
  { type: 'file' },
  { type: 'any', properties: { a: { type: 'number' } } },
  { const: Number.POSITIVE_INFINITY },
  { enum: [1, Number.POSITIVE_INFINITY] },
  { minimum: Number.POSITIVE_INFINITY },
);

type Part = fc.Arbitrary<Record<string, unknown>>;
/** Further parts of schemas, some of them made of `leaf`, which cannot be evaluated or is a reference. */
type More = (leaf: Part) => Part[];

/** Parts that cannot be evaluated, often in places where their meaning matters, such as `not`. */
export const unknownParts: More = (leaf) => [
  UNKNOWN,
  fc.record({ not: leaf }),
  fc.record(Object.fromEntries([['if', leaf], ...['then', 'else'].map((key) => [key, SIMPLE])])),
  fc.record({ oneOf: fc.tuple(leaf, SIMPLE) }),
];

function isUnknown(key: string, value: unknown): boolean {
  const isOdd =
    value === Number.POSITIVE_INFINITY || (Array.isArray(value) && value.at(-1) === Number.POSITIVE_INFINITY);
  return (
    isOdd ||
    value === '(' ||
    value === 'file' ||
    value === 'any' ||
    (key === '$ref' && String(value).startsWith('https:'))
  );
}

/** A possible meaning of the schema: parts that cannot be evaluated mean `meant`. */
export function meaning(schema: unknown, meant: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => meaning(item, meant));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema);
  const known = entries.filter(([key, value]) => !isUnknown(key, value));
  const plain = Object.fromEntries(known.map(([key, value]) => [key, meaning(value, meant)]));
  return known.length === entries.length ? plain : { ...plain, allOf: [meant] };
}

/**
 * Schemas that are valid in one draft, except for the parts of `more`; references lead to definitions, to properties and
 * to the root.
 */
export function schemas(draft: Draft, more: More = () => []) {
  const definitions = draft === 7 ? 'definitions' : '$defs';
  const ref = fc
    .constantFrom(`#/${definitions}/one`, `#/${definitions}/two`, '#/properties/a', '#')
    .map(($ref) => ({ $ref }));
  const tuple =
    draft === 7 ? { items: 'items', rest: 'additionalItems' } : { items: 'prefixItems', rest: 'items' };
  const { schema } = fc.letrec<{ schema: Record<string, unknown>; inner: Record<string, unknown> | boolean }>(
    (tie) => {
      const part = tie('schema');
      const inner = tie('inner');
      const list = fc.array(inner, { minLength: 1, maxLength: 3 });
      const named = fc.dictionary(NAME, inner, { maxKeys: 3 });
      const needs = fc.uniqueArray(NAME, { maxLength: 2 });
      const dependent: Record<string, fc.Arbitrary<unknown>> = draft === 7
        ? { dependencies: fc.dictionary(NAME, fc.oneof(needs, inner), { maxKeys: 2 }) }
        : {
            dependentRequired: fc.dictionary(NAME, needs, { maxKeys: 2 }),
            dependentSchemas: fc.dictionary(NAME, inner, { maxKeys: 1 }),
            unevaluatedProperties: inner,
          };
      const closing: Record<string, fc.Arbitrary<unknown>> = draft === 7
        ? {}
        : { unevaluatedProperties: fc.boolean() };
      return {
        inner: fc.oneof({ depthSize: 'small' }, { weight: 6, arbitrary: part }, fc.boolean()),
        schema: fc.oneof(
          { depthSize: 'small' },
          SIMPLE,
          ref,
          ...more(fc.oneof(UNKNOWN, ref)),
          fc.record(
            { type: fc.constant('array'), [tuple.items]: list, [tuple.rest]: inner },
            { requiredKeys: [tuple.items] },
          ),
          // Without `unevaluatedItems`: ajv does not count what a `contains` of anything has seen.
          fc.record(
            {
              contains: inner,
              minContains: fc.constantFrom(0, 2),
              maxContains: fc.constantFrom(0, 1),
            },
            { requiredKeys: ['contains'] },
          ),
          fc.record(
            {
              type: fc.constantFrom<unknown>('object', ['object', 'null'], 'string'),
              properties: named,
              required: needs,
              additionalProperties: inner,
              patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), inner, { maxKeys: 1 }),
              propertyNames: fc.constantFrom({ maxLength: 1 }, { enum: ['a', 'b'] }, true),
              minProperties: fc.integer({ min: 0, max: 2 }),
              maxProperties: fc.integer({ min: 1, max: 4 }),
              ...dependent,
            },
            { requiredKeys: [] },
          ),
          fc.record({ allOf: list, properties: named, ...closing }, { requiredKeys: ['allOf'] }),
          fc.record({ anyOf: list, properties: named, required: needs }, { requiredKeys: ['anyOf'] }),
          fc.record(
            { oneOf: list, ...closing, additionalProperties: inner, properties: named },
            { requiredKeys: ['oneOf'] },
          ),
          fc.record(
            { ...Object.fromEntries(['if', 'then', 'else'].map((key) => [key, inner])), ...closing },
            { requiredKeys: ['if'] },
          ),
          fc.record({ not: inner, properties: named }, { requiredKeys: ['not'] }),
        ),
      };
    },
  );
  return fc
    .tuple(
      schema,
      fc.constantFrom<object>({}, { type: 'object' }, { type: ['object', 'null'] }),
      schema,
      schema,
      fc.boolean(),
    )
    .map(([root, type, one, two, isPlain]): Record<string, unknown> => {
      const $schema = draft === 7 ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {};
      if (isPlain) return { ...$schema, properties: { a: root, b: one }, [definitions]: { one, two } };
      const isReference = draft === 7 && '$ref' in root;
      return {
        ...$schema,
        ...(isReference ? {} : { properties: { a: { type: 'number' } }, ...type }),
        ...root,
        [definitions]: { one, two },
      };
    });
}
