import { expect, test } from 'vitest';
import { convertArguments } from '../../../../src/cli/commands/call/read-arguments.ts';
import { SchemaForms } from '../../../../src/cli/commands/call/schema-forms.ts';
import { validateArguments } from '../../../../src/cli/commands/call/validate.ts';

import type { JsonSchema } from '../../../../src/protocol/mcp.ts';

const many = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

test('a subschema that is reached in many ways is visited once', () => {
  const schema: JsonSchema = {
    type: 'object',
    anyOf: many(30, () => ({ $ref: '#' })),
    properties: { a: { type: 'string', oneOf: many(30, () => ({ $ref: '#/properties/a' })) } },
  };
  const input = new SchemaForms(schema);
  expect(input.forms).toHaveLength(31);
  expect(input.property('a').forms).toHaveLength(31);
  expect(convertArguments({ base: {}, given: [{ key: 'a', text: '5' }] }, schema)).toMatchObject({
    args: { a: '5' },
    faults: [],
  });
});

test('references that double at every step are visited once each', () => {
  const steps = many(40, (at) => [`s${at}`, { allOf: many(2, () => ({ $ref: `#/$defs/s${at + 1}` })) }]);
  const $defs = { ...Object.fromEntries(steps), s40: { type: 'integer' } };
  const schema = { properties: { a: { items: { $ref: '#/$defs/s0' } } }, $defs };
  const item = new SchemaForms(schema).property('a').items;
  expect(item.forms.length).toBeLessThan(200);
  expect([...item.types]).toEqual(['integer']);
});

test('at most 1000 subschemas are visited', () => {
  const schema = { anyOf: many(50_000, () => ({ properties: { a: { type: 'string' } } })) };
  const input = new SchemaForms(schema);
  expect(input.forms).toHaveLength(1000);
  expect(input.property('a').forms).toHaveLength(999);
});

test('a deeply nested schema is read from its top', () => {
  let nested: JsonSchema = { type: 'string' };
  for (let depth = 0; depth < 100_000; depth++) nested = { anyOf: [nested] };
  expect(new SchemaForms(nested).forms).toHaveLength(1000);
});

test('at most 50 problems are listed', async () => {
  const required = many(1000, (at) => `n${at}`);
  const lines = await validateArguments({ n0: 1 }, { type: 'object', required });
  expect(lines).toHaveLength(51);
  expect(lines[0]).toBe('missing argument "n1" (any value)');
  expect(lines.at(-1)).toBe('and 949 more problems');
});

test('choices of every type are listed', async () => {
  const schema = { properties: { a: { enum: ['a', { toString: 5 }] } }, required: ['a'] };
  expect(await validateArguments({}, schema)).toEqual(['missing argument "a" (one of a, {"toString":5})']);
  expect(await validateArguments({ a: 'b' }, schema)).toEqual([
    'a: must be one of a, {"toString":5}, not "b"',
  ]);
});

test('a missing argument is described by its type and description', async () => {
  const schema = {
    type: 'object',
    required: ['text', 'level', 'open', 'nowhere'],
    properties: {
      text: { type: 'string', description: 'What to say\nat length' },
      level: { enum: ['low', 'high', 3] },
      open: {},
    },
  };
  expect(await validateArguments({}, schema)).toEqual([
    'missing argument "text" (a string: What to say)',
    'missing argument "level" (one of low, high, 3)',
    'missing argument "open" (any value)',
    'missing argument "nowhere" (any value)',
  ]);
});
