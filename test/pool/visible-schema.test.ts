import { expect, test } from 'vitest';
import { visibleSchema } from '../../src/pool/visible-schema.ts';
import { listed, pool } from './pool-of.ts';

const HIDDEN = 'Finds\u200b it\u{e0041}\u{e0042}';

test('what nobody sees is taken from texts, and from nothing that a call must match', () => {
  const schema = {
    type: 'object',
    properties: { 'a\u200bb': { title: HIDDEN, enum: ['x\u200b'], default: 'x\u200b', description: HIDDEN } },
    required: ['a\u200bb'],
  };
  expect(visibleSchema(schema)).toEqual({
    type: 'object',
    properties: {
      'a\u200bb': { title: 'Finds it', enum: ['x\u200b'], default: 'x\u200b', description: 'Finds it' },
    },
    required: ['a\u200bb'],
  });
});

test('a schema that hides nothing is the very same', () => {
  const plain = { type: 'object', properties: { a: { description: 'Words\nand "more"' } } };
  expect(visibleSchema(plain)).toBe(plain);
});

test('a parameter that is called description stays one', () => {
  const schema = { type: 'object', properties: { description: { type: 'string', title: '\u200bx' } } };
  expect(visibleSchema(schema)).toEqual({
    type: 'object',
    properties: { description: { type: 'string', title: 'x' } },
  });
});

test('a model is told of a tool without what hides in it', () => {
  const servers = new Map([['s', [listed('find', { description: HIDDEN })]]]);
  expect(pool([], {}, { servers }).tools[0]?.description).toBe('Finds it');
});
