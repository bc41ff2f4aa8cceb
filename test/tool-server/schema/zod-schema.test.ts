import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import * as otherCopy from '../../../interop/node_modules/zod/index.js';
import type { RawShape } from '../../../src/tool-server/schema/standard-schema.ts';
import { compileZodShape, isSurelySync, isZodShape } from '../../../src/tool-server/schema/zod-schema.ts';

describe('zod shape', () => {
  const shapes: [string, z.ZodRawShape][] = [
    ['no fields', {}],
    ['primitives', { s: z.string(), n: z.number(), i: z.int(), b: z.boolean() }],
    ['a union', { u: z.union([z.string(), z.number()]) }],
    ['nullable', { u: z.string().nullable() }],
    ['optional and default', { o: z.string().optional(), d: z.number().default(5) }],
    ['formats', { e: z.email(), u: z.uuid(), d: z.iso.datetime() }],
    ['described and nested', { a: z.object({ b: z.array(z.string()).describe('list') }).describe('box') }],
    ['record and enum', { r: z.record(z.string(), z.number()), e: z.enum(['x', 'y']) }],
    ['coerced and transformed', { c: z.coerce.number(), t: z.string().transform((it) => it.length) }],
  ];

  test.each(shapes)('R81 zod 4, %s: the listing equals the official one byte for byte', (_name, shape) => {
    expect(JSON.stringify(compileZodShape(shape as RawShape, 'input').json)).toBe(
      JSON.stringify(z.toJSONSchema(z.object(shape), { target: 'draft-7', io: 'input' })),
    );
  });

  test('R81 zod 3: the listing equals the official one byte for byte', () => {
    const shape = {
      s: z3.string(),
      u: z3.union([z3.string(), z3.number()]),
      e: z3.enum(['a', 'b']).default('a'),
    };
    expect(JSON.stringify(compileZodShape(shape as unknown as RawShape, 'input').json)).toBe(
      '{"type":"object","properties":{"s":{"type":"string"},"u":{"type":["string","number"]},"e":{"type":"string","enum":["a","b"],"default":"a"}},"required":["s","u"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}',
    );
  });

  test.each<[string, Record<string, unknown>]>([
    ['valid', { s: 'a', n: 1, o: undefined, extra: 1 }],
    ['absent optional and default', { s: 'a', n: 1 }],
    ['two issues, one nested', { s: 1, n: 1, list: ['a', 2] }],
    ['a missing field', {}],
    ['a refusal of a refinement', { s: 'bad', n: 1 }],
  ])('zod 3 arguments are checked as by z.object() of zod 3: %s', async (_name, value) => {
    const shape = {
      s: z3.string().refine(async (it) => it !== 'bad', 'not that'),
      n: z3.number().transform((it) => it + 1),
      o: z3.string().optional(),
      d: z3.string().default('x'),
      list: z3.array(z3.string()).optional(),
    };
    const expected = await z3.object(shape).safeParseAsync(value);
    const checked = await compileZodShape(shape as unknown as RawShape, 'input').check(value);
    expect(checked).toStrictEqual(
      expected.success ? { ok: true, value: expected.data } : { ok: false, message: expected.error.message },
    );
  });

  test('unknown keys are stripped, nested ones too; values are coerced and transformed', async () => {
    const shape = { a: z.object({ b: z.coerce.number() }), t: z.string().transform((it) => it.length) };
    expect(
      await compileZodShape(shape as unknown as RawShape, 'input').check({
        a: { b: '5', x: 1 },
        t: 'abc',
        y: 2,
      }),
    ).toEqual({
      ok: true,
      value: { a: { b: 5 }, t: 3 },
    });
  });

  test('a validation error lists the issues in the official format', async () => {
    expect(await compileZodShape({ a: z.number() }, 'input').check({ a: 'x' })).toEqual({
      ok: false,
      message: JSON.stringify(
        [
          {
            expected: 'number',
            code: 'invalid_type',
            path: ['a'],
            message: 'Invalid input: expected number, received string',
          },
        ],
        null,
        2,
      ),
    });
  });

  describe('another copy of zod', () => {
    test('its fields make a shape', async () => {
      const shape = { n: otherCopy.number().default(1) };
      const compiled = compileZodShape(shape as unknown as RawShape, 'input');
      expect(compiled.json).toMatchObject({ properties: { n: { type: 'number', default: 1 } } });
      expect(await compiled.check({})).toEqual({ ok: true, value: { n: 1 } });
    });

    test('keeps descriptions that only its own registry has', () => {
      // Simulates zod 4.0, whose copies have their own registries; later versions share one.
      const field = Object.assign(otherCopy.string(), { meta: () => ({ description: 'a city' }) });
      const compiled = compileZodShape({ city: field } as unknown as RawShape, 'input');
      expect(compiled.json).toMatchObject({ properties: { city: { description: 'a city' } } });
    });

    test('awaits its asynchronous refinements', async () => {
      const shape = { n: otherCopy.number().refine(async (n) => n > 0, 'not positive') };
      const { check } = compileZodShape(shape as unknown as RawShape, 'input');
      expect(await check({ n: 1 })).toEqual({ ok: true, value: { n: 1 } });
      expect(await check({ n: 0 })).toEqual({ ok: false, message: expect.stringContaining('not positive') });
    });
  });

  test('a refinement runs once per validation', async () => {
    let runs = 0;
    const shape = { n: z.number().refine(async () => ++runs) };
    await compileZodShape(shape, 'input').check({ n: 1 });
    expect(runs).toBe(1);
  });

  test.each<[string, unknown, boolean]>([
    ['no fields', {}, true],
    ['zod 4 fields', { a: z.string() }, true],
    ['zod 3 fields', { a: z3.string() }, true],
    ['a JSON Schema', { type: 'object' }, false],
    ['null fields', { a: null }, false],
    ['null', null, false],
    ['a list', [z.string()], false],
  ])('%s is a shape: %#', (_name, value, expected) => {
    expect(isZodShape(value)).toBe(expected);
  });
});

describe('zod sync', () => {
  const tree: z.ZodType = z.object({
    get children() {
      return z.array(tree);
    },
  });

  describe("schemas of zod's own parts are synchronous", () => {
    test.each<[string, z.ZodType]>([
      ['primitives', z.object({ s: z.string(), n: z.number(), b: z.boolean(), u: z.unknown() })],
      [
        'checks',
        z.object({ s: z.string().min(1).max(9).regex(/a/).trim(), n: z.number().int().min(0), e: z.email() }),
      ],
      ['wrappers', z.object({ o: z.string().optional(), d: z.number().default(2), n: z.null().nullable() })],
      [
        'containers',
        z.object({ a: z.array(z.string()), r: z.record(z.string(), z.number()), t: z.tuple([z.string()]) }),
      ],
      ['choices', z.object({ e: z.enum(['a', 'b']), l: z.literal(1), u: z.union([z.string(), z.number()]) })],
      ['nested and recursive', z.object({ tree, inner: z.object({ deep: z.string() }) })],
    ])('%s', (_, schema) => expect(isSurelySync(schema)).toBe(true));
  });

  describe('schemas with custom functions may be asynchronous', () => {
    test.each<[string, unknown]>([
      ['a refinement', z.object({ s: z.string().refine(async () => true) })],
      ['a refinement of the whole', z.object({}).refine(() => true)],
      [
        'a super-refinement deep inside',
        z.object({ a: z.array(z.object({ s: z.string().superRefine(() => {}) })) }),
      ],
      ['a transform', z.object({ s: z.string().transform(async (it) => it) })],
      ['a pipe', z.object({ s: z.string().pipe(z.string()) })],
      ['a custom schema', z.object({ s: z.custom<string>() })],
      ['a lazy schema', z.object({ s: z.lazy(() => z.string()) })],
      ['a preprocessing', z.object({ s: z.preprocess((it) => it, z.string()) })],
      ['something else', { _zod: {} }],
    ])('%s', (_, schema) => expect(isSurelySync(schema)).toBe(false));
  });
});
