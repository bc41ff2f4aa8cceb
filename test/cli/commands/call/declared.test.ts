import { expect, test } from 'vitest';
import { buildArguments, missingLines } from '../../../../src/cli/commands/call/arguments.ts';
import { declared, itemOf, memberOf, typesOf } from '../../../../src/cli/commands/call/declared.ts';

import type { JsonSchema } from '../../../../src/protocol/mcp.ts';

const many = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

test('a schema that leads back to itself in many ways is one form each', () => {
  const schema: JsonSchema = {
    type: 'object',
    anyOf: many(30, () => ({ $ref: '#' })),
    properties: { a: { type: 'string', oneOf: many(30, () => ({ $ref: '#/properties/a' })) } },
  };
  const input = declared(schema, schema);
  expect(input.forms).toHaveLength(31);
  expect(memberOf(input, 'a').forms).toHaveLength(31);
  expect(buildArguments({}, [{ key: 'a', form: 'text', text: '5' }], schema)).toMatchObject({
    args: { a: '5' },
    faults: [],
  });
});

test('references that double at every step are followed once each', () => {
  const steps = many(40, (at) => [`s${at}`, { allOf: many(2, () => ({ $ref: `#/$defs/s${at + 1}` })) }]);
  const $defs = { ...Object.fromEntries(steps), s40: { type: 'integer' } };
  const schema = { properties: { a: { items: { $ref: '#/$defs/s0' } } }, $defs };
  const item = itemOf(memberOf(declared(schema, schema), 'a'));
  expect(item.forms.length).toBeLessThan(200);
  expect([...typesOf(item)]).toEqual(['integer']);
});

test('no more forms are looked at than a person could have meant', () => {
  const schema = { anyOf: many(50_000, () => ({ properties: { a: { type: 'string' } } })) };
  const input = declared(schema, schema);
  expect(input.forms).toHaveLength(1000);
  expect(memberOf(input, 'a').forms).toHaveLength(999);
});

test('a schema that is nested without end is read from its top', () => {
  let nested: JsonSchema = { type: 'string' };
  for (let depth = 0; depth < 100_000; depth++) nested = { anyOf: [nested] };
  expect(declared(nested, nested).forms).toHaveLength(1000);
});

test('of many names that are required the first are told', () => {
  const required = many(100_000, (at) => `n${at}`);
  const lines = missingLines(new Set(['n0']), { type: 'object', required });
  expect(lines).toHaveLength(51);
  expect(lines[0]).toBe('it needs n1: anything');
  expect(lines.at(-1)).toBe('it needs 99949 more');
});

test('a choice is told whatever it is', () => {
  const choices = ['a', { toString: 5 }];
  const schema = { properties: { a: { enum: choices } }, required: ['a'] };
  expect(missingLines(new Set(), schema)).toEqual(['it needs a: one of a, {"toString":5}']);
  expect(buildArguments({ a: 'b' }, [], schema).faults).toEqual([
    'a: must be one of a, {"toString":5}, not "b"',
  ]);
});
