import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseArguments } from '../../../../src/cli/commands/call/convert-arguments.ts';

import { parseWords } from '../../../../src/cli/commands/call/read-arguments.ts';
import type { JsonSchema } from '../../../../src/protocol/mcp.ts';

const build = (words: readonly string[], schema: JsonSchema, base = {}) =>
  parseArguments(base, parseWords(words).assignments, schema);

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
  [['tags=["a"]', 'tags=b'], { tags: ['a', 'b'] }],
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
])('%j is typed by the schema', (words, args) => {
  expect(build(words, SCHEMA)).toEqual({ args, faults: [], unknown: [] });
});

test.each([
  [['count=five'], 'count: must be an integer, not "five"'],
  [['count=1.5'], 'count: must be an integer, not "1.5"'],
  [['count=9007199254740993'], 'count: 9007199254740993 is too large for an exact number'],
  [['count=007'], 'count: must be an integer, not "007"'],
  [['deep=yes'], 'deep: must be true or false, not "yes"'],
  [['sizes=1', 'sizes=x'], 'sizes: must be an integer, not "x"'],
  [['text=a', 'text=b'], 'text: given more than once'],
  [['filter=me'], 'filter: must be a JSON object, not "me"'],
  [['filter.limit=x'], 'filter.limit: must be an integer, not "x"'],
  [['tags=a', 'tags.b=c'], 'tags.b: "tags" is not an object'],
  [['maybe=x'], 'maybe: must be an integer or null, not "x"'],
  [['count:={'], 'count: not valid JSON: line 1, column 2: missing closing }'],
])('%j is refused', (words, fault) => {
  expect(build(words, SCHEMA).faults).toEqual([fault]);
});

test('arguments are added to a copy of the JSON input', () => {
  const base = { count: 'five', filter: { owner: 'me' } };
  const { args, faults } = build(['filter.limit=1'], SCHEMA, base);
  expect(faults).toEqual([]);
  expect(args).toEqual({ count: 'five', filter: { owner: 'me', limit: 1 } });
  expect(base.filter).toEqual({ owner: 'me' });
});

test.each([
  ['says nothing of others', {}],
  ['takes no others', { additionalProperties: false }],
])('a schema that %s does not accept unknown names', (_, more) => {
  const schema = {
    type: 'object',
    properties: {
      dryRun: { type: 'boolean' },
      edits: { type: 'array', items: { type: 'object', properties: { oldText: {} } } },
    },
    ...more,
  };
  const refused = (words: string[], given: JsonSchema = schema) =>
    build(words, given).unknown.flatMap(({ text, isAllowed }) => (isAllowed ? [] : [text]));
  expect(refused(['dryRn=true'])).toEqual(['unknown argument "dryRn"; did you mean "dryRun"?']);
  expect(refused(['dryRn:=true'])).toEqual(['unknown argument "dryRn"; did you mean "dryRun"?']);
  expect(refused(['edits:=[{"oldTxt":1}]'])).toEqual([
    'edits[0]: unknown argument "oldTxt"; did you mean "oldText"?',
  ]);
  expect(refused(['zzz=1'])).toEqual(['unknown argument "zzz" (accepted: dryRun, edits)']);
  expect(refused(['zzz=1'], { type: 'object', properties: {}, ...more })).toEqual([
    'unknown argument "zzz" (accepted: no arguments)',
  ]);
});

test.each([
  ['additionalProperties', { additionalProperties: true }],
  ['a schema for them', { additionalProperties: {} }],
  ['patterns', { patternProperties: { '^x-': {} } }],
  ['a form that is any object', { anyOf: [{ type: 'object' }, { properties: { other: {} } }] }],
])('a schema that accepts other names, by %s, allows an unknown name', (_, more) => {
  const schema = { type: 'object', properties: { text: { type: 'string' } }, ...more };
  expect(build(['texts=5'], schema)).toEqual({
    args: { texts: 5 },
    faults: [],
    unknown: [{ text: 'unknown argument "texts"; did you mean "text"?', isAllowed: true }],
  });
});

test('what is declared under a condition is declared', () => {
  const schema = {
    properties: { a: {} },
    if: { required: ['z'] },
    else: { properties: { b: { type: 'string' } } },
  };
  expect(build(['a=1', 'b=2'], schema)).toMatchObject({ args: { a: 1, b: '2' }, faults: [], unknown: [] });
});

test('a tool that declares nothing is sent anything', () => {
  expect(build(['a=1', 'a=2'], { type: 'object' })).toEqual({
    args: { a: [1, 2] },
    faults: [],
    unknown: [],
  });
});

test.each([
  ['a reference that leads nowhere', { properties: { a: { $ref: '#/$defs/none' } } }],
  ['one that leads to itself', { properties: { a: { $ref: '#/properties/a' } } }],
  ['one that is no address', { properties: { a: { $ref: '#/%E0%A4%A' } } }],
  ['one elsewhere', { properties: { a: { $ref: 'https://example.com/a.json' } } }],
  ['members that are no schemas', { properties: { a: 5 } }],
])('%s hinders nothing', (_, schema) => {
  expect(build(['a=x'], schema).args).toEqual({ a: 'x' });
});

test('no name of an argument is more than a name', () => {
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
  fc.assert(
    fc.property(fc.uniqueArray(names, { minLength: 1, maxLength: 5 }), fc.boolean(), (given, isNested) => {
      const prefix = isNested ? '__proto__.' : '';
      const { args, faults } = build(
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
