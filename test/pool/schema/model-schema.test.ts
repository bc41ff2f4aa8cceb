import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelSchema, serverArguments } from '../../../src/pool/schema/model-schema.ts';
import { expectLegal } from './validators.ts';

describe('model schema', () => {
  type Json = Record<string, unknown>;
  const D7 = 'http://json-schema.org/draft-07/schema#';
  const STRING = { type: 'string' };
  const object = (properties: Json, more: Json = {}) => ({ type: 'object', properties, ...more });
  /** A root with one argument. */
  const one = (form: unknown, more: Json = {}) => object({ a: form }, more);

  const ROOTS: [string, unknown, Json][] = [
    ['no type', { properties: { a: STRING } }, one(STRING)],
    ['no properties', { type: 'object' }, object({})],
    ['properties that are null', { type: 'object', properties: null }, object({})],
    ['properties that are a list', { type: 'object', properties: ['a'] }, object({})],
    ['nothing at all', {}, object({})],
    ['a type that is a list', { type: ['object', 'null'], properties: { a: STRING } }, one(STRING)],
    ['no schema but true', true, object({})],
    ['no schema but null', null, object({})],
    ['its draft', { $schema: D7, type: 'object', properties: { a: STRING } }, one(STRING)],
    [
      'a type that takes no object',
      { type: 'string', description: 'Odd.' },
      object(
        {},
        {
          description:
            'Odd. The input schema of this tool contradicts itself (no arguments can match it) and is omitted; the server validates the arguments.',
        },
      ),
    ],
    [
      'a reference, draft 7',
      { $schema: D7, $ref: '#/definitions/In', definitions: { In: one(STRING) } },
      one(STRING),
    ],
    [
      'a reference beside keywords',
      { $ref: '#/$defs/In', required: ['a'], $defs: { In: one(STRING) } },
      one(STRING, { required: ['a'] }),
    ],
    [
      'a reference to what refers to itself',
      { $ref: '#/$defs/Node', $defs: { Node: object({ next: { $ref: '#/$defs/Node' } }), Lone: {} } },
      object(
        { next: { $ref: '#/$defs/Node' } },
        { $defs: { Node: object({ next: { $ref: '#/$defs/Node' } }) } },
      ),
    ],
    [
      'no type, and a reference to it',
      { properties: { a: { $ref: '#' } } },
      one({ $ref: '#/$defs/root' }, { $defs: { root: { properties: { a: { $ref: '#/$defs/root' } } } } }),
    ],
    [
      'allOf, merged exactly',
      {
        type: 'object',
        description: 'Moves.',
        properties: { a: STRING },
        allOf: [
          { properties: { a: { minLength: 2 }, b: { type: 'number' } }, required: ['b'] },
          { minProperties: 1, title: 'T' },
        ],
      },
      {
        type: 'object',
        description: 'Moves.',
        title: 'T',
        properties: { a: { type: 'string', minLength: 2 }, b: { type: 'number' } },
        required: ['b'],
        minProperties: 1,
      },
    ],
    [
      'allOf with a part that is closed',
      { allOf: [one(STRING, { additionalProperties: false }), object({ b: STRING })] },
      one(STRING, { additionalProperties: false }),
    ],
    [
      'allOf whose forms of an argument would mean something else in one',
      { allOf: [one({ properties: { x: {} } }), one({ additionalProperties: false })] },
      one({ allOf: [{ properties: { x: {} } }, { additionalProperties: false }] }),
    ],
    [
      'allOf with a form that counts what others have seen',
      { allOf: [one({ unevaluatedProperties: false }), one({ allOf: [STRING] })] },
      one({ allOf: [{ unevaluatedProperties: false }, STRING] }),
    ],
    [
      'anyOf of what is required',
      {
        type: 'object',
        properties: { a: STRING, b: STRING, c: {} },
        anyOf: [{ required: ['a'] }, { required: ['b', 'c'] }],
      },
      {
        type: 'object',
        description: 'One or more of: needs a; needs b and c.',
        properties: { a: STRING, b: STRING, c: {} },
      },
    ],
    [
      'oneOf of closed objects',
      {
        oneOf: [
          object(
            { kind: { const: 'x' }, a: STRING },
            { required: ['kind', 'a'], additionalProperties: false },
          ),
          object(
            { kind: { const: 'y' }, b: STRING },
            { required: ['kind'], additionalProperties: false, title: 'Y' },
          ),
        ],
      },
      {
        type: 'object',
        description: 'One of: with kind = "x" needs a; Y with kind = "y" needs nothing more.',
        properties: { kind: { anyOf: [{ const: 'x' }, { const: 'y' }] }, a: STRING, b: STRING },
        required: ['kind'],
        additionalProperties: false,
      },
    ],
    [
      'anyOf of open objects: each form shows, and anything is still right',
      { anyOf: [one(STRING), object({ b: STRING })] },
      {
        type: 'object',
        description: 'One or more of: needs nothing more; needs nothing more.',
        properties: { a: { anyOf: [STRING, {}] }, b: { anyOf: [STRING, {}] } },
      },
    ],
    ['anyOf with one object only', { anyOf: [one(STRING), { type: 'null' }] }, one(STRING)],
    [
      'not',
      one(STRING, { not: { required: ['a', 'b'] } }),
      { type: 'object', description: 'Must not be {"required":["a","b"]}.', properties: { a: STRING } },
    ],
    [
      'if, then',
      one(
        STRING,
        Object.fromEntries([
          ['if', { required: ['a'] }],
          ['then', { required: ['b'] }],
        ]),
      ),
      {
        type: 'object',
        description: 'Condition: {"if":{"required":["a"]},"then":{"required":["b"]},"else":true}.',
        properties: { a: STRING },
      },
    ],
    ['enum', { enum: [{ a: 1 }, 'x'] }, object({}, { description: 'Must be one of [{"a":1}].' })],
    ['const', { const: { a: 1 }, type: 'object' }, object({}, { description: 'Must be one of [{"a":1}].' })],
    [
      'a reference into a part that goes',
      { anyOf: [object({ a: STRING, b: { $ref: '#/anyOf/0/properties/a' } })] },
      object({ a: STRING, b: { $ref: '#/$defs/a' } }, { $defs: { a: STRING } }),
    ],
  ];

  test.each(ROOTS)('a root with %s', (_, schema, expected) => {
    const normal = modelSchema(schema as Json);
    expect(normal).toEqual(expected);
    expectLegal(normal);
    expect(modelSchema(normal)).toEqual(normal);
  });

  const WITHIN: [string, Json, Json][] = [
    [
      'definitions',
      one({ $ref: '#/definitions/D' }, { definitions: { D: STRING } }),
      one({ $ref: '#/$defs/D' }, { $defs: { D: STRING } }),
    ],
    [
      'definitions beside $defs of the same name',
      object(
        { a: { $ref: '#/definitions/D' }, b: { $ref: '#/$defs/D' } },
        { definitions: { D: STRING }, $defs: { D: {} } },
      ),
      object({ a: { $ref: '#/$defs/D_2' }, b: { $ref: '#/$defs/D' } }, { $defs: { D: {}, D_2: STRING } }),
    ],
    [
      'a pointer to a property',
      object({ a: STRING, b: { $ref: '#/properties/a' } }),
      object({ a: STRING, b: { $ref: '#/properties/a' } }),
    ],
    [
      'a pointer into a tuple',
      one({ type: 'array', items: [STRING, { $ref: '#/properties/a/items/0' }] }),
      one(
        { type: 'array', prefixItems: [STRING, { $ref: '#/$defs/schema0' }], items: {} },
        { $defs: { schema0: STRING } },
      ),
    ],
    [
      'a pointer outside any schema',
      one(
        { $ref: '#/components/schemas/D' },
        { components: { schemas: { D: { nullable: true, type: 'string' } } } },
      ),
      one({ $ref: '#/$defs/D' }, { $defs: { D: { type: ['string', 'null'] } } }),
    ],
    [
      'an anchor',
      one({ $ref: '#d' }, { $defs: { D: { $anchor: 'd', ...STRING } } }),
      one({ $ref: '#/$defs/d' }, { $defs: { D: STRING, d: STRING } }),
    ],
    [
      'an id',
      one({ $ref: 'T0' }, { $defs: { D: { $id: 'T0', properties: { b: { $ref: 'T0' } } } } }),
      one(
        { $ref: '#/$defs/T0' },
        {
          $defs: {
            D: { properties: { b: { $ref: '#/$defs/T0' } } },
            T0: { properties: { b: { $ref: '#/$defs/T0' } } },
          },
        },
      ),
    ],
    [
      'a pointer within a schema with an id',
      one(
        { $ref: 'd.json#/$defs/E' },
        { $defs: { D: { $id: 'd.json', $defs: { E: STRING }, items: { $ref: '#/$defs/E' } }, E: {} } },
      ),
      one(
        { $ref: '#/$defs/E_2' },
        { $defs: { D: { $defs: { E: STRING }, items: { $ref: '#/$defs/E_2' } }, E: {}, E_2: STRING } },
      ),
    ],
    [
      'the id of the root',
      one({ $ref: 'https://example.com/in.json' }, { $id: 'https://example.com/in.json' }),
      one({ $ref: '#' }),
    ],
    [
      'a dynamic reference',
      one({ $dynamicRef: '#d' }, { $defs: { D: { $dynamicAnchor: 'd', ...STRING } } }),
      one({ $ref: '#/$defs/d' }, { $defs: { D: STRING, d: STRING } }),
    ],
    ['a recursive reference', one({ $recursiveRef: '#' }, { $recursiveAnchor: true }), one({ $ref: '#' })],
    [
      'a remote reference',
      one({ $ref: 'https://example.com/s.json', title: 'T' }),
      one({
        title: 'T',
        description:
          'Any value: the reference "https://example.com/s.json" cannot be resolved within this schema.',
      }),
    ],
    [
      'a reference to nothing',
      one({ $ref: '#/$defs/No', description: 'D.' }),
      one({ description: 'D. Any value: the reference "#/$defs/No" cannot be resolved within this schema.' }),
    ],
    [
      'references in a circle',
      one({ $ref: '#/$defs/A' }, { $defs: { A: { $ref: '#/$defs/A' } } }),
      one(
        { description: 'Any value: the reference "#/$defs/A" cannot be resolved within this schema.' },
        {
          $defs: {
            A: { description: 'Any value: the reference "#/$defs/A" cannot be resolved within this schema.' },
          },
        },
      ),
    ],
    [
      'keywords beside a reference, which draft 7 ignores',
      one({ $ref: '#/$defs/D', minLength: 3, title: 'T' }, { $schema: D7, $defs: { D: STRING } }),
      one({ $ref: '#/$defs/D', title: 'T' }, { $defs: { D: STRING } }),
    ],
    [
      'keywords that draft 7 does not know',
      one({ type: 'array', items: {}, minContains: 2 }, { $schema: D7 }),
      one({ type: 'array', items: {} }),
    ],
    [
      'bounds of draft 4',
      one({ minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false }),
      one({ exclusiveMinimum: 1, maximum: 5 }),
    ],
    [
      'a tuple that is closed',
      one({ type: 'array', items: [STRING], additionalItems: false }),
      one({ type: 'array', prefixItems: [STRING], items: false }),
    ],
    ['an array without items', one({ type: 'array' }), one({ type: 'array', items: {} })],
    [
      'an array whose items are counted elsewhere',
      one({ type: 'array', unevaluatedItems: false }),
      one({ type: 'array', unevaluatedItems: false }),
    ],
    [
      'dependencies',
      one({ dependencies: { x: ['y'], z: { required: ['x'] } } }),
      one({ dependentRequired: { x: ['y'] }, dependentSchemas: { z: { required: ['x'] } } }),
    ],
    ['nullable', one({ type: 'string', nullable: true }), one({ type: ['string', 'null'] })],
    [
      'nullable without a type',
      one({ enum: ['x'], nullable: true }),
      one({ enum: ['x'], description: 'May be null.' }),
    ],
    ['the type any', one({ type: 'any', description: 'D.' }), one({ description: 'D.' })],
    ['an unknown type', one({ type: ['string', 'file'] }), one({ description: 'Type: file.' })],
    ['a type that is no name', one({ type: { oneOf: [] } }), one({})],
    ['boolean schemas', object({ a: true, b: false }), object({ a: {}, b: { not: {} } })],
    ['a text for a schema', one('the id'), one({ description: 'the id' })],
    [
      'required that is a boolean',
      one({ type: 'string', required: true }),
      one({ type: 'string', description: 'Required.' }),
    ],
    [
      'required names twice and no names',
      one(STRING, { required: ['a', 'a', 3] }),
      one(STRING, { required: ['a'] }),
    ],
    ['an empty enum', one({ type: 'string', enum: [] }), one(STRING)],
    ['an empty anyOf', one({ anyOf: [], type: 'string' }), one(STRING)],
    [
      'values of the wrong kind',
      one({ minLength: '3', multipleOf: 0, uniqueItems: 'yes', examples: 'x', title: 5 }),
      one({ examples: ['x'], title: '5' }),
    ],
    [
      'a pattern that is none',
      one({ type: 'string', pattern: '(?P<x>a' }),
      one({ type: 'string', description: 'Pattern: (?P<x>a' }),
    ],
    [
      'a pattern for names that is none',
      one({ patternProperties: { '(': {}, b: STRING }, additionalProperties: false }),
      one({ patternProperties: { b: STRING } }),
    ],
    [
      'a required argument that is not declared',
      one(STRING, { required: ['b'] }),
      one(STRING, { required: ['b'] }),
    ],
    [
      'values that look like schemas',
      one({ default: { $ref: 'x', nullable: true }, enum: [{ type: 'any' }] }),
      one({ default: { $ref: 'x', nullable: true }, enum: [{ type: 'any' }] }),
    ],
    [
      'properties named like keywords',
      object({ id: STRING, type: STRING, enum: STRING }),
      object({ id: STRING, type: STRING, enum: STRING }),
    ],
  ];

  test.each(WITHIN)('%s', (_, schema, expected) => {
    const before = structuredClone(schema);
    const normal = modelSchema(schema);
    expect(normal).toEqual(expected);
    expect(Object.keys(normal.properties as object)).toEqual(Object.keys(expected.properties as object));
    expectLegal(normal);
    expect(schema).toEqual(before);
    expect(modelSchema(normal)).toEqual(normal);
  });

  test('a schema that needs nothing is given back itself', () => {
    const schema = object(
      {
        a: { $ref: '#/$defs/D' },
        b: { type: 'array', items: { $ref: '#/properties/a' } },
        c: { type: ['string', 'null'] },
      },
      {
        required: ['a'],
        additionalProperties: false,
        $defs: { D: { anyOf: [STRING, { $ref: '#/$defs/D' }] } },
      },
    );
    expect(modelSchema(schema)).toBe(schema);
  });

  test.each([
    ['properties', (inner: unknown) => ({ type: 'object', properties: { a: inner } })],
    ['alternatives', (inner: unknown) => ({ anyOf: [inner] })],
    ['values', (inner: unknown) => ({ default: { x: inner } })],
  ])('ten thousand levels of %s end in an open root that says so', (_, wrap) => {
    let schema: Json = {};
    for (let level = 0; level < 10_000; level++) schema = wrap(schema);
    expect(modelSchema({ ...schema, description: 'Deep.' })).toEqual({
      type: 'object',
      description:
        'Deep. The input schema is nested too deeply to be included; the server validates the arguments.',
      properties: {},
    });
  });

  test('a root of very many alternatives that all refer to each other stays small', () => {
    const names = Array.from({ length: 40 }, (_, at) => `D${at}`);
    const all = names.map((name) => ({ $ref: `#/$defs/${name}` }));
    const $defs = Object.fromEntries(
      names.map((name) => [name, { anyOf: all, properties: { [name]: STRING } }]),
    );
    const normal = modelSchema({ anyOf: all, $defs });
    expectLegal(normal);
    expect(JSON.stringify(normal).length).toBeLessThan(200_000);
  });

  test('a property called __proto__ is one like any other', () => {
    const schema = JSON.parse(
      '{"allOf":[{"properties":{"__proto__":{"type":"any"}},"required":["__proto__"]}]}',
    );
    const normal = modelSchema(schema);
    expect(JSON.stringify(normal)).toBe(
      '{"type":"object","properties":{"__proto__":{}},"required":["__proto__"]}',
    );
  });
});

describe('arguments', () => {
  const CALLS = {
    type: 'object',
    properties: { 'T<': { type: 'string', description: 'From.' }, 'T>': { type: 'string' }, T_: {}, To: {} },
    required: ['To', 'T<'],
    dependentRequired: { 'T>': ['T<'] },
  };

  test('arguments whose names an API refuses are offered under others that say what they stand for', () => {
    const { properties, required, dependentRequired } = modelSchema(CALLS);
    const [from, until, ...others] = Object.keys(properties as object);
    expect(others).toEqual(['T_', 'To']);
    expect(from).toMatch(/^T__[0-9a-f]{8}$/);
    expect(until).toMatch(/^T__[0-9a-f]{8}$/);
    expect(from).not.toBe(until);
    expect(properties).toMatchObject({
      [from as string]: { type: 'string', description: 'From. Sent as "T<".' },
    });
    expect({ required, dependentRequired }).toEqual({
      required: ['To', from],
      dependentRequired: { [until as string]: [from] },
    });
  });

  test('a name that nothing else has is only made legal', () => {
    const normal = modelSchema({
      type: 'object',
      properties: { 'Start<': {}, '': {}, ['x'.repeat(70)]: {} },
    });
    expect(Object.keys(normal.properties as object)).toEqual(['Start_', '_', 'x'.repeat(64)]);
  });

  test('a call goes out under the names of the server, in the order given', () => {
    const [from, until] = Object.keys(modelSchema(CALLS).properties as object) as [string, string];
    const sent = serverArguments(CALLS, { To: 1, [until]: 'b', T_: 2, [from]: 'a', more: 3 });
    expect(Object.entries(sent)).toEqual([
      ['To', 1],
      ['T>', 'b'],
      ['T_', 2],
      ['T<', 'a'],
      ['more', 3],
    ]);
  });

  test('a model that sends both names means the one it was offered', () => {
    const [from] = Object.keys(modelSchema(CALLS).properties as object) as [string];
    expect(serverArguments(CALLS, { 'T<': 'own', [from]: 'offered' })).toEqual({ 'T<': 'offered' });
  });

  test('arguments that need no other name are given back themselves', () => {
    const args = { To: 1, 'T<': 'x' };
    expect(serverArguments(CALLS, args)).toBe(args);
    expect(serverArguments({ type: 'object' }, args)).toBe(args);
  });

  test('names inside an argument are the servers own, also where the root refers to itself', () => {
    const tree = { type: 'object', properties: { 'sub>': { $ref: '#' } }, additionalProperties: false };
    const normal = modelSchema(tree);
    expect(normal).toEqual({
      type: 'object',
      properties: { sub_: { $ref: '#/$defs/root', description: 'Sent as "sub>".' } },
      additionalProperties: false,
      $defs: {
        root: {
          type: 'object',
          properties: { 'sub>': { $ref: '#/$defs/root' } },
          additionalProperties: false,
        },
      },
    });
    expect(serverArguments(tree, { sub_: { 'sub>': { sub_: 1 } } })).toEqual({
      'sub>': { 'sub>': { sub_: 1 } },
    });
  });

  test('conditions on names do not judge names that were replaced', () => {
    const schema = {
      type: 'object',
      properties: { 'x y': {} },
      propertyNames: { pattern: ' ' },
      additionalProperties: false,
    };
    expect(modelSchema(schema)).toEqual({
      type: 'object',
      properties: { x_y: { description: 'Sent as "x y".' } },
      description: 'Additional constraints apply; the server validates them.',
    });
  });

  test('whatever the names are: offered legally, each taken back to its own, no prototype touched', () => {
    const name = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('__proto__', 'a b', 'a_b', 'a<'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 8 }), (names) => {
        const schema = {
          type: 'object',
          properties: Object.fromEntries(names.map((it) => [it, { const: it }])),
        };
        const normal = modelSchema(schema);
        expectLegal(normal);
        const offered = Object.keys(normal.properties as object);
        expect(new Set(offered).size).toBe(names.length);
        const given = Object.fromEntries(
          Object.entries(normal.properties as Record<string, { const: string }>).map(([it, form]) => [
            it,
            form.const,
          ]),
        );
        const sent = serverArguments(schema, given);
        expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
        expect(Object.keys(sent).sort()).toEqual(names.toSorted());
        for (const [own, value] of Object.entries(sent)) expect(value).toBe(own);
      }),
    );
  });
});
