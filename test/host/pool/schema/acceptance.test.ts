import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelSchema } from '../../../../src/host/pool/schema/model-schema.ts';
import { acceptor, expectLegal } from './validators.ts';

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
const ARGUMENTS = fc.dictionary(NAME, VALUE, { maxKeys: 4 });

type Draft = 7 | 2020;
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

/** Schemas of one draft that are legal in it; references lead to definitions, to properties and to the root. */
function schemas(draft: Draft) {
  const definitions = draft === 7 ? 'definitions' : '$defs';
  const ref = fc
    .constantFrom(`#/${definitions}/one`, `#/${definitions}/two`, '#/properties/a', '#')
    .map(($ref) => ({ $ref }));
  const tuple =
    draft === 7 ? { items: 'items', rest: 'additionalItems' } : { items: 'prefixItems', rest: 'items' };
  const { schema } = fc.letrec<{ schema: Record<string, unknown>; any: Record<string, unknown> | boolean }>(
    (tie) => {
      const part = tie('schema');
      const any = tie('any');
      const list = fc.array(any, { minLength: 1, maxLength: 3 });
      const named = fc.dictionary(NAME, any, { maxKeys: 3 });
      const needs = fc.uniqueArray(NAME, { maxLength: 2 });
      const dependent: Record<string, fc.Arbitrary<unknown>> = draft === 7
        ? { dependencies: fc.dictionary(NAME, fc.oneof(needs, any), { maxKeys: 2 }) }
        : {
            dependentRequired: fc.dictionary(NAME, needs, { maxKeys: 2 }),
            dependentSchemas: fc.dictionary(NAME, any, { maxKeys: 1 }),
            unevaluatedProperties: any,
          };
      return {
        any: fc.oneof({ depthSize: 'small' }, { weight: 6, arbitrary: part }, fc.boolean()),
        schema: fc.oneof(
          { depthSize: 'small' },
          SIMPLE,
          ref,
          fc.record(
            { type: fc.constant('array'), [tuple.items]: list, [tuple.rest]: any },
            { requiredKeys: [tuple.items] },
          ),
          fc.record(
            {
              type: fc.constantFrom<unknown>('object', ['object', 'null'], 'string'),
              properties: named,
              required: needs,
              additionalProperties: any,
              patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), any, { maxKeys: 1 }),
              propertyNames: fc.constantFrom({ maxLength: 1 }, { enum: ['a', 'b'] }, true),
              minProperties: fc.integer({ min: 0, max: 2 }),
              maxProperties: fc.integer({ min: 1, max: 4 }),
              ...dependent,
            },
            { requiredKeys: [] },
          ),
          fc.record({ allOf: list, properties: named }, { requiredKeys: ['allOf'] }),
          fc.record({ anyOf: list, properties: named, required: needs }, { requiredKeys: ['anyOf'] }),
          fc.record(
            { oneOf: list, additionalProperties: any, properties: named },
            { requiredKeys: ['oneOf'] },
          ),
          fc.record(Object.fromEntries(['if', 'then', 'else'].map((key) => [key, any])), {
            requiredKeys: ['if'],
          }),
          fc.record({ not: any, properties: named }, { requiredKeys: ['not'] }),
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
    )
    .map(([root, type, one, two]): Record<string, unknown> => {
      const isReference = draft === 7 && '$ref' in root;
      return {
        ...(draft === 7 ? { $schema: 'http://json-schema.org/draft-07/schema#' } : {}),
        ...(isReference ? {} : { properties: { a: { type: 'number' } }, ...type }),
        ...root,
        [definitions]: { one, two },
      };
    });
}

/** References that a validator would follow for ever (of schemas as small as these) are nobody's concern here. */
function answer(accepts: (value: unknown) => boolean, value: unknown): boolean | undefined {
  try {
    return accepts(value);
  } catch {
    return undefined;
  }
}

test.each<Draft>([7, 2020])(
  'what a schema of draft %s accepts is accepted, and nothing else unless it says so',
  (draft) => {
    const seen = { accepted: 0, refused: 0, exact: 0, wider: 0 };
    const model = (args: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(args).map(([name, value]) => [name === 'd<' ? 'd_' : name, value]));
    fc.assert(
      fc.property(schemas(draft), fc.array(ARGUMENTS, { minLength: 8, maxLength: 8 }), (schema, values) => {
        const before = JSON.stringify(schema);
        const normal = modelSchema(schema);
        expect(JSON.stringify(schema)).toBe(before);
        expectLegal(normal);
        expect(JSON.stringify(modelSchema(normal))).toBe(JSON.stringify(normal));
        let accepts: [(value: unknown) => boolean, (value: unknown) => boolean];
        try {
          accepts = [acceptor(schema, draft), acceptor(normal, 2020)];
        } catch (cause) {
          if (cause instanceof RangeError || String(cause).includes('resolve')) return;
          throw cause;
        }
        const isExact = normal.description === undefined;
        const hasAlias = Object.hasOwn(normal.properties as object, 'd_');
        seen[isExact ? 'exact' : 'wider']++;
        for (const value of values) {
          const original = answer(accepts[0], value);
          const now = answer(accepts[1], hasAlias ? model(value) : value);
          if (original === undefined || now === undefined) continue;
          seen[original ? 'accepted' : 'refused']++;
          if (original) expect({ value, now }).toEqual({ value, now: true });
          else if (isExact) expect({ value, now }).toEqual({ value, now: false });
        }
      }),
      { numRuns: 200 },
    );
    // The test says something only if all of these occur often.
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(10);
  },
);
