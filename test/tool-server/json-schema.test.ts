import { expect, test, vi } from 'vitest';
import { compileJsonSchema } from '../../src/tool-server/json-schema.ts';

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
])('%s is enforced', (_name, properties, value, message) => {
  expect(compileJsonSchema(object(properties)).check(value)).toEqual({ ok: false, message });
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
])('a schema that names %s is checked', ($schema) => {
  const { check } = compileJsonSchema(object({ n: { type: 'number' } }, { $schema }));
  expect([check({ n: 1 }), check({ n: 'a' })]).toEqual([
    { ok: true, value: { n: 1 } },
    { ok: false, message: 'n must be number' },
  ]);
});

test('each dialect has its own words: tuples', () => {
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
    expect(check({ p: [1] })).toEqual({ ok: true, value: { p: [1] } });
    expect(check({ p: ['a'] })).toMatchObject({ ok: false });
    expect(check({ p: [1, 2] })).toMatchObject({ ok: false });
  }
});

test('a faulty schema is found at the call, and says that the tool is to blame', () => {
  const { check } = compileJsonSchema(object({ n: { type: 'nonsense' } }));
  const expected = { ok: false, message: expect.stringMatching(/^the tool's own schema is faulty: /) };
  expect([check({}), check({})]).toEqual([expected, expected]);
});

test('references inside a schema are followed', () => {
  const { check } = compileJsonSchema(
    object({ n: { $ref: '#/$defs/N' } }, { $defs: { N: { type: 'number' } } }),
  );
  expect(check({ n: 'a' })).toEqual({ ok: false, message: 'n must be number' });
});

test('two schemas with one $id do not meet', () => {
  const one = compileJsonSchema(object({ n: { type: 'number' } }, { $id: 'https://example.com/same' }));
  const other = compileJsonSchema(object({ n: { type: 'string' } }, { $id: 'https://example.com/same' }));
  expect([one.check({ n: 1 }), other.check({ n: 'a' }), one.check({ n: 'a' })]).toEqual([
    { ok: true, value: { n: 1 } },
    { ok: true, value: { n: 'a' } },
    { ok: false, message: 'n must be number' },
  ]);
});

test('defaults of nested fields are applied to a copy', () => {
  const { check } = compileJsonSchema(object({ at: object({ unit: { default: 'm' } }) }));
  const given = { at: {} };
  expect(check(given)).toEqual({ ok: true, value: { at: { unit: 'm' } } });
  expect(given).toEqual({ at: {} });
});

test('an unknown format is no check, and nothing is printed', () => {
  const printed = vi.spyOn(console, 'warn').mockImplementation(() => {});
  expect(compileJsonSchema(object({ n: { format: 'shoe-size' } })).check({ n: 'a' })).toEqual({
    ok: true,
    value: { n: 'a' },
  });
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});
