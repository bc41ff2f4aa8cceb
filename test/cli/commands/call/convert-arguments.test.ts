import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convertArguments, readArguments } from '../../../../src/cli/commands/call/read-arguments.ts';

import type { JsonSchema } from '../../../../src/protocol/mcp.ts';

async function build(words: readonly string[], schema: JsonSchema, base = {}) {
  const { given } = await readArguments(words, Readable.from([]));
  return convertArguments({ base, given }, schema);
}

const SCHEMA: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  $defs: {
    size: { type: 'integer' },
    node: { properties: { next: { $ref: '#/$defs/node' }, at: { type: 'number' } } },
  },
  required: ['text'],
  properties: {
    text: { type: 'string', description: 'What to say\nat length' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    deep: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    points: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
    sizes: { type: 'array', items: { $ref: '#/$defs/size' } },
    filter: { type: 'object', properties: { owner: { type: 'string' }, limit: { type: 'integer' } } },
    open: {},
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    oneOrMany: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    maybe: { type: ['integer', 'null'] },
    level: { enum: ['low', 'high', 3] },
    shade: { anyOf: [{ const: 'dark' }, { type: 'integer' }] },
    node: { $ref: '#/$defs/node' },
    'dotted.name': { type: 'integer' },
  },
};

test.each([
  [['text=5'], { text: '5' }],
  [['text=true'], { text: 'true' }],
  [['text='], { text: '' }],
  [['count=5'], { count: 5 }],
  [['count=-5'], { count: -5 }],
  [['ratio=1.5e3'], { ratio: 1500 }],
  [['ratio=2'], { ratio: 2 }],
  [['deep=true'], { deep: true }],
  [['tags=a'], { tags: ['a'] }],
  [['tags=5', 'tags=b'], { tags: ['5', 'b'] }],
  [['tags=["a","b"]'], { tags: ['a', 'b'] }],
  [['tags=[not json'], { tags: ['[not json'] }],
  [['points=[[1,2]]'], { points: [[1, 2]] }],
  [['sizes=1', 'sizes=2'], { sizes: [1, 2] }],
  [['filter.owner=me', 'filter.limit=3'], { filter: { owner: 'me', limit: 3 } }],
  [['filter={"owner":"me"}', 'filter.limit=3'], { filter: { owner: 'me', limit: 3 } }],
  [['open=5'], { open: 5 }],
  [['open=plain'], { open: 'plain' }],
  [['open={"a":1}'], { open: { a: 1 } }],
  [['either=5'], { either: 5 }],
  [['either=five'], { either: 'five' }],
  [['oneOrMany=a'], { oneOrMany: 'a' }],
  [['oneOrMany=a', 'oneOrMany=b'], { oneOrMany: ['a', 'b'] }],
  [['maybe=null'], { maybe: null }],
  [['maybe=4'], { maybe: 4 }],
  [['level=high'], { level: 'high' }],
  [['level=3'], { level: 3 }],
  [['shade=7'], { shade: 7 }],
  [['node.next.next.at=1'], { node: { next: { next: { at: 1 } } } }],
  [['dotted.name=1'], { 'dotted.name': 1 }],
  [['text:="@home"'], { text: '@home' }],
  [['tags:=["a"]'], { tags: ['a'] }],
  [['tags:="a"', 'tags:="b"'], { tags: ['a', 'b'] }],
  [['text=a', 'text=b'], { text: ['a', 'b'] }],
])('%j is converted to the type in the schema', async (words, args) => {
  expect(await build(words, SCHEMA)).toEqual({ args, faults: [] });
});

test.each([
  [['count=five'], { count: 'five' }],
  [['count=1.5'], { count: '1.5' }],
  [['count=9007199254740993'], { count: '9007199254740993' }],
  [['count=007'], { count: '007' }],
  [['deep=yes'], { deep: 'yes' }],
  [['sizes=1', 'sizes=x'], { sizes: [1, 'x'] }],
  [['filter=me'], { filter: 'me' }],
  [['filter.limit=x'], { filter: { limit: 'x' } }],
  [['maybe=x'], { maybe: 'x' }],
])('%j cannot be converted and stays a string, which validation reports', async (words, args) => {
  expect(await build(words, SCHEMA)).toEqual({ args, faults: [] });
});

test('a field of a list cannot be set', async () => {
  expect((await build(['tags=a', 'tags.b=c'], SCHEMA)).faults).toEqual(['tags.b: "tags" is not an object']);
});

test('arguments are added to a copy of the JSON input', async () => {
  const base = { count: 'five', filter: { owner: 'me' } };
  const { args, faults } = await build(['filter.limit=1'], SCHEMA, base);
  expect(faults).toEqual([]);
  expect(args).toEqual({ count: 'five', filter: { owner: 'me', limit: 1 } });
  expect(base.filter).toEqual({ owner: 'me' });
});

test('properties of conditional subschemas are declared', async () => {
  const schema = {
    properties: { a: {} },
    if: { required: ['z'] },
    else: { properties: { b: { type: 'string' } } },
  };
  expect(await build(['a=1', 'b=2'], schema)).toEqual({ args: { a: 1, b: '2' }, faults: [] });
});

test('without declared properties, values are parsed as JSON where possible', async () => {
  expect(await build(['a=1', 'a=2', 'b=x'], { type: 'object' })).toEqual({
    args: { a: [1, 2], b: 'x' },
    faults: [],
  });
});

test.each([
  ['a reference to a missing definition', { properties: { a: { $ref: '#/$defs/none' } } }],
  ['a reference to itself', { properties: { a: { $ref: '#/properties/a' } } }],
  ['a malformed reference', { properties: { a: { $ref: '#/%E0%A4%A' } } }],
  ['a reference to another document', { properties: { a: { $ref: 'https://example.com/a.json' } } }],
  ['a property that is not a schema', { properties: { a: 5 } }],
])('%s does not prevent conversion', async (_, schema) => {
  expect((await build(['a=x'], schema)).args).toEqual({ a: 'x' });
});

test('argument names such as __proto__ are ordinary properties', async () => {
  const names = fc.oneof(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'server',
      'tool',
      'name',
      'arguments',
    ),
    fc.string({ minLength: 1 }).filter((it) => !/[=.]|:$|^\s*\{|^-$/.test(it)),
  );
  const lists = fc.uniqueArray(names, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(lists, fc.boolean(), async (given, isNested) => {
      const prefix = isNested ? '__proto__.' : '';
      const { args, faults } = await build(
        given.map((name) => `${prefix}${name}=x`),
        { type: 'object' },
      );
      expect(faults).toEqual([]);
      expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
      expect(Object.keys({}).concat(Object.keys(Object.prototype))).toEqual([]);
      const sent = JSON.parse(JSON.stringify(args)) as Record<string, unknown>;
      const where = isNested ? (Object.getOwnPropertyDescriptor(sent, '__proto__')?.value as object) : sent;
      expect(Object.keys(where).sort()).toEqual([...given].sort());
    }),
  );
});
