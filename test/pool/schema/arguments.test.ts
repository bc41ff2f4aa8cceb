import fc from 'fast-check';
import { expect, test } from 'vitest';
import { argumentsFor } from '../../../src/pool/schema/arguments.ts';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { expectLegal } from './validators.ts';

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
  const normal = modelSchema({ type: 'object', properties: { 'Start<': {}, '': {}, ['x'.repeat(70)]: {} } });
  expect(Object.keys(normal.properties as object)).toEqual(['Start_', '_', 'x'.repeat(64)]);
});

test('a call goes out under the names of the server, in the order given', () => {
  const [from, until] = Object.keys(modelSchema(CALLS).properties as object) as [string, string];
  const sent = argumentsFor(CALLS, { To: 1, [until]: 'b', T_: 2, [from]: 'a', more: 3 });
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
  expect(argumentsFor(CALLS, { 'T<': 'own', [from]: 'offered' })).toEqual({ 'T<': 'offered' });
});

test('arguments that need no other name are given back themselves', () => {
  const args = { To: 1, 'T<': 'x' };
  expect(argumentsFor(CALLS, args)).toBe(args);
  expect(argumentsFor({ type: 'object' }, args)).toBe(args);
});

test('names inside an argument are the servers own, also where the root refers to itself', () => {
  const tree = { type: 'object', properties: { 'sub>': { $ref: '#' } }, additionalProperties: false };
  const normal = modelSchema(tree);
  expect(normal).toEqual({
    type: 'object',
    properties: { sub_: { $ref: '#/$defs/root', description: 'Sent as "sub>".' } },
    additionalProperties: false,
    $defs: {
      root: { type: 'object', properties: { 'sub>': { $ref: '#/$defs/root' } }, additionalProperties: false },
    },
  });
  expect(argumentsFor(tree, { sub_: { 'sub>': { sub_: 1 } } })).toEqual({ 'sub>': { 'sub>': { sub_: 1 } } });
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
    description: 'Further conditions hold, which the server checks.',
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
      const sent = argumentsFor(schema, given);
      expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
      expect(Object.keys(sent).sort()).toEqual(names.toSorted());
      for (const [own, value] of Object.entries(sent)) expect(value).toBe(own);
    }),
  );
});
