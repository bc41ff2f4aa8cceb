import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { compileJsonSchema, compileSchema } from '../../../src/tool-server/schema/schema.ts';
import type { ToolSchema } from '../../../src/tool-server/schema/standard-schema.ts';

describe('schema', () => {
  /** The same arguments in every schema language: a required number, and a string with a default. */
  const KINDS: [string, ToolSchema][] = [
    ['a zod 4 shape', { n: z.number(), unit: z.string().default('m') }],
    ['a zod 3 shape', { n: z3.number(), unit: z3.string().default('m') }],
    ['a zod object', z.object({ n: z.number(), unit: z.string().default('m') })],
    [
      'valibot, wrapped',
      toStandardJsonSchema(v.object({ n: v.number(), unit: v.optional(v.string(), 'm') })) as ToolSchema,
    ],
    ['arktype', type({ n: 'number', unit: "string = 'm'" }) as unknown as ToolSchema],
    [
      'JSON Schema 2020-12',
      { type: 'object', properties: { n: { type: 'number' }, unit: { default: 'm' } }, required: ['n'] },
    ],
    [
      'JSON Schema draft 7',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { n: { type: 'number' }, unit: { type: 'string', default: 'm' } },
        required: ['n'],
      },
    ],
    [
      'JSON Schema without a type (R96)',
      { properties: { n: { type: 'number' }, unit: { default: 'm' } }, required: ['n'] },
    ],
  ];

  describe.each(KINDS)('%s', (_kind, schema) => {
    const compiled = compileSchema(schema, 'tool "t"');

    test('R94 describes an object with its fields and what is required', () => {
      expect(compiled.json).toMatchObject({
        type: 'object',
        properties: { n: { type: 'number' }, unit: {} },
        required: ['n'],
      });
    });

    test('accepts valid arguments, applies defaults and does not change the given object', async () => {
      const given = Object.freeze({ n: 1 });
      expect(await compiled.check(given)).toEqual({ ok: true, value: { n: 1, unit: 'm' } });
      expect(given).toEqual({ n: 1 });
    });

    test.each([
      ['a wrong type', { n: 'one' }],
      ['a missing field', {}],
      ['no object', 5],
      ['nothing', undefined],
      ['null', null],
    ])('rejects %s with the reason', async (_fault, value) => {
      expect(await compiled.check(value)).toEqual({ ok: false, message: expect.stringMatching(/\S/) });
    });
  });

  test('R95 an empty shape is a tool without fields', async () => {
    const compiled = compileSchema({}, 'tool "t"');
    expect(compiled.json).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {},
    });
    expect(await compiled.check({ extra: 1 })).toEqual({ ok: true, value: {} });
  });

  test('a union of objects gets type "object" at the root', () => {
    const union = z.union([z.object({ a: z.number() }), z.object({ b: z.number() })]);
    expect(compileSchema(union, 'tool "t"').json).toMatchObject({
      type: 'object',
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    });
  });

  test('issues of a Standard Schema name their path', async () => {
    const schema = v.object({ a: v.object({ b: v.array(v.number()) }) });
    const compiled = compileSchema(toStandardJsonSchema(schema) as ToolSchema, 'tool "t"');
    expect(await compiled.check({ a: { b: [1, 'x'] } })).toEqual({
      ok: false,
      message: 'a.b.1: Invalid type: Expected number but received "x"',
    });
  });

  test('awaits asynchronous refinements of every library', async () => {
    const isEven = async (n: number) => n % 2 === 0;
    const schemas: ToolSchema[] = [
      { n: z.number().refine(isEven, 'odd') },
      { n: z3.number().refine(isEven, 'odd') },
      z.object({ n: z.number().refine(isEven, 'odd') }),
      {
        '~standard': {
          version: 1,
          vendor: 'own',
          validate: async (value) => {
            const { n } = value as { n: number };
            return (await isEven(n))
              ? { value: { n } }
              : { issues: [{ message: 'odd', path: [{ key: 'n' }] }] };
          },
          jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
        },
      },
    ];
    for (const schema of schemas) {
      const compiled = compileSchema(schema, 'tool "t"');
      for (let i = 0; i < 2; i++) {
        expect(await compiled.check({ n: 2 })).toEqual({ ok: true, value: { n: 2 } });
        expect(await compiled.check({ n: 3 })).toEqual({
          ok: false,
          message: expect.stringContaining('odd'),
        });
      }
    }
  });

  test('a rejecting refinement fails the validation without an unhandled rejection', async () => {
    const broken = z.number().refine(() => Promise.reject(new Error('down')));
    for (const schema of [{ n: broken }, z.object({ n: broken })]) {
      await expect(compileSchema(schema, 'tool "t"').check({ n: 1 })).rejects.toThrow('down');
    }
  });

  test('an output schema describes the transformed value', () => {
    const shape = { at: z.string().transform(Number).pipe(z.number()) };
    expect(compileSchema(shape, 'tool "t"', 'input').json).toMatchObject({
      properties: { at: { type: 'string' } },
    });
    expect(compileSchema(shape, 'tool "t"', 'output').json).toMatchObject({
      properties: { at: { type: 'number' } },
      additionalProperties: false,
    });
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'the schema is null; pass a zod shape'],
    ['undefined', undefined, 'the schema is undefined; pass a zod shape'],
    ['text', 'string', 'the schema is string; pass a zod shape'],
    ['a list', [], 'the schema is an array; pass a zod shape'],
    [
      'a shape of words',
      { a: 'number', b: 'string' },
      'the schema looks like a zod shape, but "a" is not a zod schema; write { a: z.number() } or { type: "object", properties: … }',
    ],
    [
      'a shape of constructors',
      { a: Number },
      'the schema looks like a zod shape, but "a" is not a zod schema',
    ],
    [
      'a keyword among constructors',
      { title: 'x', n: Number },
      'the schema looks like a zod shape, but "n" is not a zod schema',
    ],
    [
      'a shape of JSON Schemas',
      { a: { type: 'number' } },
      'the schema looks like a zod shape, but "a" is not a zod schema',
    ],
    ['another root type', { type: 'string' }, 'the root type of the schema is "string"; it must be "object"'],
    ['a zod text', z.string(), 'the root type of the schema is "string"; it must be "object"'],
    [
      'valibot without its wrapper',
      v.object({ a: v.string() }),
      'the valibot schema cannot be converted to JSON Schema',
    ],
    ['zod 3 and 4 mixed', { a: z.string(), b: z3.string() }, 'the shape mixes zod 3 and zod 4 schemas'],
    ['a field zod cannot describe', { at: z.date() }, 'Date cannot be represented in JSON Schema'],
    ['a shape of valibot fields', { a: v.string() }, '"a" is a schema, but not every field is a zod schema'],
    [
      'a shape of arktype fields',
      { a: type('string') },
      '"a" is a schema, but not every field is a zod schema',
    ],
    [
      'a zod field beside none',
      { a: 1, b: z.string() },
      '"b" is a schema, but not every field is a zod schema',
    ],
  ])('%s is rejected as bad-schema', (_name, schema, fault) => {
    expect(() => compileSchema(schema as ToolSchema, 'tool "t"')).toThrow(
      expect.objectContaining({ code: 'bad-schema', message: expect.stringContaining(`tool "t": ${fault}`) }),
    );
  });

  test('a root type of undefined counts as missing', () => {
    expect(compileSchema({ type: undefined, properties: {} }, 'tool "t"').json).toEqual({
      type: 'object',
      properties: {},
    });
  });

  test.each([
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'object' } } }],
    [{ anyOf: [{ required: ['a'] }] }],
    [{ additionalProperties: false }],
    [{ description: 'anything', 'x-own': 1 }],
  ])('recognizes a JSON Schema by any keyword: %j', (schema) => {
    expect(compileSchema(schema as ToolSchema, 'tool "t"').json).toEqual({ type: 'object', ...schema });
  });
});

describe('json schema', () => {
  const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });

  test.each<[string, object, unknown, string]>([
    ['minimum', { n: { minimum: 1 } }, { n: 0 }, 'n must be >= 1'],
    ['maximum', { n: { maximum: 1 } }, { n: 2 }, 'n must be <= 1'],
    ['enum', { n: { enum: ['a'] } }, { n: 'b' }, 'n must be equal to one of the allowed values'],
    ['pattern', { n: { pattern: '^a' } }, { n: 'b' }, 'n must match pattern "^a"'],
    ['format', { n: { format: 'email' } }, { n: 'b' }, 'n must match format "email"'],
    ['a nested field', { n: object({ m: { type: 'integer' } }) }, { n: { m: 0.5 } }, 'n/m must be integer'],
    [
      'each fault',
      { a: { type: 'string' }, b: { type: 'string' } },
      { a: 1, b: 2 },
      'a must be string; b must be string',
    ],
  ])('%s is enforced', async (_name, properties, value, message) => {
    expect(await compileJsonSchema(object(properties)).check(value)).toEqual({ ok: false, message });
  });

  test('the schema is listed untouched', () => {
    const schema = object(
      { a: { type: 'string' } },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: {} },
    );
    const compiled = compileJsonSchema(schema);
    void compiled.check({});
    expect(compiled.json).toBe(schema);
  });

  test.each([
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-06/schema#',
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
    'https://example.com/my-own-dialect',
  ])('a schema that names %s is checked', async ($schema) => {
    const { check } = compileJsonSchema(object({ n: { type: 'number' } }, { $schema }));
    expect([await check({ n: 1 }), await check({ n: 'a' })]).toEqual([
      { ok: true, value: { n: 1 } },
      { ok: false, message: 'n must be number' },
    ]);
  });

  test('each dialect has its own keyword for tuples', async () => {
    const draft7 = compileJsonSchema(
      object(
        { p: { type: 'array', items: [{ type: 'number' }], additionalItems: false } },
        { $schema: 'http://json-schema.org/draft-07/schema#' },
      ),
    );
    const draft2020 = compileJsonSchema(
      object({ p: { type: 'array', prefixItems: [{ type: 'number' }], items: false } }),
    );
    for (const { check } of [draft7, draft2020]) {
      expect(await check({ p: [1] })).toEqual({ ok: true, value: { p: [1] } });
      expect(await check({ p: ['a'] })).toMatchObject({ ok: false });
      expect(await check({ p: [1, 2] })).toMatchObject({ ok: false });
    }
  });

  test('an invalid schema fails the call with an error about the tool', async () => {
    const { check } = compileJsonSchema(object({ n: { type: 'nonsense' } }));
    const expected = { ok: false, message: expect.stringMatching(/^the tool's own schema is invalid: /) };
    expect([await check({}), await check({})]).toEqual([expected, expected]);
  });

  test('references inside a schema are followed', async () => {
    const { check } = compileJsonSchema(
      object({ n: { $ref: '#/$defs/N' } }, { $defs: { N: { type: 'number' } } }),
    );
    expect(await check({ n: 'a' })).toEqual({ ok: false, message: 'n must be number' });
  });

  test('two schemas with the same $id do not interfere', async () => {
    const one = compileJsonSchema(object({ n: { type: 'number' } }, { $id: 'https://example.com/same' }));
    const other = compileJsonSchema(object({ n: { type: 'string' } }, { $id: 'https://example.com/same' }));
    expect([await one.check({ n: 1 }), await other.check({ n: 'a' }), await one.check({ n: 'a' })]).toEqual([
      { ok: true, value: { n: 1 } },
      { ok: true, value: { n: 'a' } },
      { ok: false, message: 'n must be number' },
    ]);
  });

  test('defaults of nested fields are applied to a copy', async () => {
    const { check } = compileJsonSchema(object({ at: object({ unit: { default: 'm' } }) }));
    const given = { at: {} };
    expect(await check(given)).toEqual({ ok: true, value: { at: { unit: 'm' } } });
    expect(given).toEqual({ at: {} });
  });

  test('an unknown format is ignored silently', async () => {
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => {});
    expect(await compileJsonSchema(object({ n: { format: 'shoe-size' } })).check({ n: 'a' })).toEqual({
      ok: true,
      value: { n: 'a' },
    });
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});
