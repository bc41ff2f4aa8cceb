import { expect, test } from 'vitest';
import { SchemaForms } from '../../../../src/cli/commands/call/schema-forms.ts';
import {
  schemaError,
  unknownArguments,
  validateArguments,
} from '../../../../src/cli/commands/call/validate.ts';
import type { JsonSchema } from '../../../../src/protocol/mcp.ts';

const SCHEMA: JsonSchema = {
  type: 'object',
  $defs: {
    point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
    shape: {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'dot' }, at: { $ref: '#/$defs/point' } },
          required: ['kind', 'at'],
        },
        { type: 'string' },
      ],
    },
  },
  properties: {
    edits: {
      type: 'array',
      items: {
        type: 'object',
        properties: { oldText: { type: 'string' }, newText: { type: 'string' } },
        required: ['oldText', 'newText'],
        additionalProperties: false,
      },
    },
    id: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    shape: { $ref: '#/$defs/shape' },
    shapes: { type: 'array', items: { $ref: '#/$defs/shape' } },
    level: { type: 'array', items: { enum: ['low', 'high'] } },
    count: { type: 'integer', minimum: 1 },
    'a/b': { type: 'array', items: { type: 'integer' } },
    name: { type: 'string', pattern: '^(a+)+$', format: 'email' },
  },
};

test.each<[object, string[]]>([
  [{ edits: [{ oldText: 'a', newText: 'b' }], id: ['x'], shape: 'dot', count: 1 }, []],
  [
    { edits: [{ oldText: 'a' }, 5] },
    ['edits[0]: missing argument "newText" (a string)', 'edits[1]: must be a JSON object, not 5'],
  ],
  [
    { edits: [{ oldText: 1, newText: 'b', x: 1 }] },
    [
      'edits[0]: unknown argument "x" (accepted: oldText, newText)',
      'edits[0].oldText: must be a string, not 1',
    ],
  ],
  [{ id: 5 }, ['id: must be a string or a list, not 5']],
  [{ id: ['a', 5] }, ['id[1]: must be a string, not 5']],
  [{ shape: { kind: 'dot', at: { x: 'left' } } }, ['shape.at.x: must be a number, not "left"']],
  [{ shape: { kind: 'dot', at: {} } }, ['shape.at: missing argument "x" (a number)']],
  [{ shapes: ['a', { kind: 'line', at: { x: 1 } }] }, ['shapes[1].kind: must be "dot", not "line"']],
  [{ level: ['mid'] }, ['level[0]: must be one of low, high, not "mid"']],
  [{ count: 0 }, ['count: must be >= 1']],
  [{ 'a/b': ['x'] }, ['a/b[0]: must be an integer, not "x"']],
  // Patterns and formats are left to the server.
  [{ name: `${'a'.repeat(60)}!` }, []],
])('%j', async (args, faults) => {
  expect(await validateArguments(args, SCHEMA)).toEqual(faults);
});

test('alternatives at the root are reported in one line', async () => {
  const schema = {
    type: 'object',
    properties: { a: {}, b: {} },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  };
  expect(await validateArguments({ b: 1 }, schema)).toEqual([]);
  expect(await validateArguments({}, schema)).toEqual([
    'missing argument "a" (any value); or missing argument "b" (any value)',
  ]);
});

test('older drafts are validated by their own rules', async () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
  };
  expect(await validateArguments({ pair: ['a', 'b'] }, schema)).toEqual([
    'pair[1]: must be a number, not "b"',
  ]);
});

test.each([
  ['a reference to another document', { properties: { a: { $ref: 'https://example.com/a.json' } } }],
  ['a reference to a missing definition', { properties: { a: { $ref: '#/$defs/none' } } }],
  ['invalid keywords', { type: 'text', properties: 5 }],
])('%s: a schema that cannot be compiled is not used', async (_, schema) => {
  expect(await validateArguments({ a: 1 }, schema)).toEqual([]);
});

test('a schema that is too large is not used', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type: 'string' }]),
  );
  expect(await validateArguments({ p1: 5 }, { properties })).toEqual([]);
});

test.each<[string, object, JsonSchema]>([
  [
    'references that double at every step',
    { a: 1 },
    {
      $ref: '#/$defs/s0',
      $defs: {
        ...Object.fromEntries(
          Array.from({ length: 40 }, (_, at) => [
            `s${at}`,
            { allOf: [{ $ref: `#/$defs/s${at + 1}` }, { $ref: `#/$defs/s${at + 1}` }] },
          ]),
        ),
        s40: { type: 'object' },
      },
    },
  ],
  [
    'a pattern for names with exponential backtracking',
    { [`${'a'.repeat(60)}!`]: 1 },
    { patternProperties: { '^(a+)+$': { type: 'string' } } },
  ],
  ['references to itself', { a: 1 }, { anyOf: Array.from({ length: 30 }, () => ({ $ref: '#' })) }],
])('%s: a schema that takes too long is not used', async (_, args, schema) => {
  const began = performance.now();
  expect(await validateArguments(args, schema)).toEqual([]);
  expect(performance.now() - began).toBeLessThan(4_000);
});

test('property names are matched against patternProperties', async () => {
  const schema = { patternProperties: { '^a+$': { type: 'string' } }, additionalProperties: false };
  expect(await validateArguments({ a: 1 }, schema)).toEqual(['a: must be a string, not 1']);
});

const withCity = (city: unknown) => ({ type: 'object', properties: { city } });

test.each<[JsonSchema, string]>([
  [withCity({ type: 'strng' }), 'properties.city.type ("strng")'],
  [withCity({ type: ['string', 'nul'] }), 'properties.city.type[1] ("nul")'],
  [withCity({ type: 'string', required: true }), 'properties.city.required (true)'],
  [withCity({ enum: 'a' }), 'properties.city.enum ("a")'],
  [withCity({ type: 'array', items: { type: 5 } }), 'properties.city.items.type (5)'],
  [withCity({ anyOf: [{ type: 'text' }] }), 'properties.city.anyOf[0].type ("text")'],
  [withCity({ minimum: '1' }), 'properties.city.minimum ("1")'],
  [withCity('string'), 'properties.city ("string")'],
  [{ type: 'object', $defs: { a: { minLength: -1 } } }, '$defs.a.minLength (-1)'],
  [
    { $schema: 'http://json-schema.org/draft-07/schema#', ...withCity({ type: 'strng' }) },
    'properties.city.type ("strng")',
  ],
])('%j is an invalid schema; the location is reported', async (schema, place) => {
  expect(await schemaError(schema)).toBe(place);
});

test.each<[JsonSchema]>([
  [SCHEMA],
  [{ type: 'object' }],
  [{}],
  [withCity({ type: 'string', 'x-order': 1, nullable: true, example: 'Rome', deprecated: true })],
  // Draft 7 and older, with or without $schema.
  [withCity({ type: 'array', items: [{ type: 'string' }], additionalItems: false })],
  [{ type: 'object', definitions: { a: true }, dependencies: { a: ['b'] } }],
  [
    {
      $schema: 'http://json-schema.org/draft-04/schema#',
      ...withCity({ minimum: 0, exclusiveMinimum: true }),
    },
  ],
  [withCity({ type: 'integer', maximum: 9, exclusiveMaximum: false })],
  // 2019-09 and 2020-12.
  [withCity({ prefixItems: [{ type: 'string' }], unevaluatedItems: false, dependentRequired: { a: ['b'] } })],
  [withCity({ $ref: '#/$defs/none', pattern: '[', format: 'nonsense' })],
])('%j is a valid schema', async (schema) => {
  expect(await schemaError(schema)).toBeUndefined();
});

test('a schema that is nested too deeply is not judged', async () => {
  let deep: JsonSchema = { type: 'strng' };
  for (let i = 0; i < 100_000; i++) deep = { not: deep };
  expect(await schemaError(deep)).toBeUndefined();
});

test.each([
  ['does not mention additional properties', {}],
  ['forbids additional properties', { additionalProperties: false }],
])('a schema that %s refuses unknown names', (_, more) => {
  const schema = {
    type: 'object',
    properties: {
      dryRun: { type: 'boolean' },
      edits: { type: 'array', items: { type: 'object', properties: { oldText: {} } } },
    },
    ...more,
  };
  const refused = (args: object, given: JsonSchema = schema) =>
    unknownArguments(args, new SchemaForms(given)).flatMap(({ text, isAllowed }) =>
      isAllowed ? [] : [text],
    );
  expect(refused({ dryRn: true })).toEqual(['unknown argument "dryRn"; did you mean "dryRun"?']);
  expect(refused({ edits: [{ oldTxt: 1 }] })).toEqual([
    'edits[0]: unknown argument "oldTxt"; did you mean "oldText"?',
  ]);
  expect(refused({ zzz: 1 })).toEqual(['unknown argument "zzz" (accepted: dryRun, edits)']);
  expect(refused({ zzz: 1 }, { type: 'object', properties: {}, ...more })).toEqual([
    'unknown argument "zzz" (accepted: no arguments)',
  ]);
});

test.each([
  ['additionalProperties', { additionalProperties: true }],
  ['a schema for them', { additionalProperties: {} }],
  ['patterns', { patternProperties: { '^x-': {} } }],
])('a schema that accepts other names by %s allows an unknown name', (_, more) => {
  const schema = { type: 'object', properties: { text: { type: 'string' } }, ...more };
  expect(unknownArguments({ texts: 5 }, new SchemaForms(schema))).toEqual([
    { text: 'unknown argument "texts"; did you mean "text"?', isAllowed: true },
  ]);
});

test('a schema without declared properties has no unknown names', () => {
  expect(unknownArguments({ a: [1, 2] }, new SchemaForms({ type: 'object' }))).toEqual([]);
});
