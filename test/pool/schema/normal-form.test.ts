import { expect, test } from 'vitest';
import { visibleSchema } from '../../../src/pool/pooled-tool.ts';
import { modelSchema, serverArguments } from '../../../src/pool/schema/model-schema.ts';

import { acceptor, expectLegal } from './validators.ts';

type Json = Record<string, unknown>;
const named = (count: number, form: (at: number) => [string, unknown]): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => form(at)));
const list = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at));
const texts = (count: number) => named(count, (at) => [`p${at}`, { type: 'string' }]);
const values = (count: number) => ({ enum: list(count, (at) => `v${at}`) });
/** A schema that is nested in this number of others. */
const nested = (levels: number, inner: Json): Json =>
  levels === 0 ? inner : { properties: { a: nested(levels - 1, inner) } };
const into = (levels: number, start: string) =>
  named(levels, (at) => [`r${at}`, { $ref: start + '/properties/a'.repeat(at) }]);
const LONG = 'x'.repeat(200_000);

const GROWING: [string, Json][] = [
  [
    'names beside patterns in another branch',
    {
      oneOf: [
        { properties: texts(2000) },
        { patternProperties: named(2000, (at) => [`^q${at}$`, { const: at }]), additionalProperties: false },
      ],
    },
  ],
  [
    'names beside a long form for the rest in another branch',
    { anyOf: [{ properties: texts(2000) }, { additionalProperties: values(2000) }] },
  ],
  [
    'names beside a long form for the rest in another part',
    { allOf: [{ properties: texts(9000) }, { additionalProperties: values(9000) }] },
  ],
  [
    'very many references to places that end alike',
    {
      properties: named(5000, (at) => [`p${at}`, { $ref: `#/x/${at}/a` }]),
      x: named(5000, (at) => [`${at}`, { a: { type: 'string' } }]),
    },
  ],
  [
    'parts within parts',
    list(60, (at) => at).reduce<Json>(
      (inner, at) => ({ allOf: [inner], properties: named(30, (name) => [`p${name}`, { minLength: at }]) }),
      { properties: texts(500) },
    ),
  ],
  [
    'ids relative to a long one',
    {
      $id: `http://example.com/${LONG}`,
      properties: named(10_000, (at) => [`p${at}`, { $id: `a${at}` }]),
    },
  ],
  [
    'anchors in a long address',
    {
      $id: `http://example.com/${LONG}`,
      properties: named(10_000, (at) => [`p${at}`, { $anchor: `a${at}` }]),
    },
  ],
  [
    'short references to a long name',
    {
      properties: {
        [LONG]: { $anchor: 'a' },
        ...named(10_000, (at) => [`p${at}`, { $ref: '#a' }]),
      },
    },
  ],
  [
    'very many branches beside very many names',
    {
      anyOf: [{ properties: texts(8000) }, ...list(20_000, () => ({}))],
    },
  ],
  [
    'one part again and again',
    {
      allOf: list(60, () => ({ $ref: '#/$defs/a' })),
      $defs: { a: { description: LONG, properties: texts(5000) } },
    },
  ],
];

test.each(GROWING)('%s: shown, and not much larger than it was', (_, schema) => {
  const size = JSON.stringify(schema).length;
  const normal = modelSchema({ type: 'object', ...schema });
  expect(Object.keys(normal.properties as object).length).toBeGreaterThan(400);
  expect(JSON.stringify(normal).length).toBeLessThan(4 * size + 64_000);
  expectLegal(normal);
  expect(modelSchema(normal)).toBe(normal);
});

test('a schema for further properties is not repeated for each property of other parts', () => {
  const rest = { additionalProperties: values(100) };
  const normal = modelSchema({ type: 'object', allOf: [{ properties: texts(20) }, rest] });
  expect(normal).toEqual({
    type: 'object',
    description: 'Additional constraints apply; the server validates them.',
    properties: texts(20),
    ...rest,
  });
});

test('alternatives with schemas for further properties accept what each alternative accepts', () => {
  const whole = { properties: texts(30), additionalProperties: false };
  const rest = { additionalProperties: values(100) };
  const patterns = { patternProperties: named(50, (at) => [`^p${at}$`, { const: at }]), ...rest };
  const either = { type: 'object', anyOf: [whole, patterns] };
  const samples: unknown[] = [{}, { p1: 'v3' }, { p1: 'x' }, { p1: 1 }, { p40: 40 }, { z: 'v3' }, { z: 'x' }];
  const wider = acceptor(modelSchema(either), 2020);
  const accepted = samples.filter(acceptor(either, 2020));
  expect(accepted.length).toBeGreaterThan(3);
  for (const sample of accepted) expect(wider(sample)).toBe(true);
});

const HOSTILE: [string, Json][] = [
  ['megabytes of text', { properties: { a: { description: LONG.repeat(10) } } }],
  ['a hundred thousand arguments', { properties: texts(100_000) }],
  [
    'references into a part within a part',
    {
      properties: { ...into(90, '#/properties/a'), a: nested(90, { description: LONG }) },
      anyOf: [{}, { required: ['a'] }],
    },
  ],
  [
    'references outside any schema, into each other',
    {
      properties: into(90, '#/x'),
      x: nested(90, { properties: named(10_000, (at) => [`p${at}`, { type: 'any' }]) }),
    },
  ],
  [
    'references into an argument that has another name',
    {
      properties: { ...into(90, '#/properties/a%20b'), 'a b': nested(90, { description: LONG }) },
    },
  ],
  ['patterns that are slow to compile', { properties: { a: { pattern: '\\p{L}[\\P{Lu}]'.repeat(20_000) } } }],
];

test.each(HOSTILE)('%s: an open root that says so, soon', (_, schema) => {
  const whole = { type: 'object', description: 'Big.', ...schema };
  const normal = modelSchema(whole);
  expect(normal).toEqual({
    type: 'object',
    description: 'Big. The input schema is too large to be included; the server validates the arguments.',
    properties: {},
  });
  expect(visibleSchema(normal)).toBe(normal);
  expect(modelSchema(normal)).toBe(normal);
  const args = { a_b: 1, p1: 2 };
  expect(serverArguments(whole, args)).toBe(args);
});

test('of a description that itself is too long the beginning is kept, in whole characters', () => {
  const description = `x${'😀'.repeat(500_000)}`;
  const normal = modelSchema({ type: 'object', description });
  expect(normal.description).toMatch(/^x(😀){1999}… The input schema is too large to be included;/u);
});

test('an object that holds itself many times over is looked through for a while only', () => {
  let schema: Json = { type: 'object' };
  for (let level = 0; level < 100; level++) schema = { type: 'object', properties: { a: schema, b: schema } };
  expect(modelSchema(schema).description).toMatch(/too large/);
});

test('arguments for a schema that cannot be read are passed on as they are', () => {
  const schema = Object.defineProperty({}, 'properties', {
    enumerable: true,
    get: () => {
      throw new RangeError('Invalid string length');
    },
  });
  const args = { a: 1 };
  expect(serverArguments(schema, args)).toBe(args);
});
