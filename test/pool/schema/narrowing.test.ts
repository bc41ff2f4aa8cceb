import { expect, test } from 'vitest';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { expectLegal } from './validators.ts';

type Json = Record<string, unknown>;
const REMOTE = { $ref: 'https://example.com/s.json' };
const ANY = {
  description: 'Any value: the reference "https://example.com/s.json" cannot be resolved within this schema.',
};
const NUMBER = { type: 'number' };
const FURTHER = 'Additional constraints apply; the server validates them.';
const ONLY_ONE = 'Exactly one of the alternatives must match; the server validates this.';
const one = (form: Json, $defs?: Json) => ({
  type: 'object',
  properties: { a: form },
  ...($defs === undefined ? {} : { $defs }),
});
const when = (condition: unknown, then: unknown, more: Json = {}): Json =>
  Object.fromEntries([['if', condition], ['then', then], ...Object.entries(more)]);
const must = (json: unknown) => ({ description: `Must not be ${JSON.stringify(json)}.` });
const bad = { pattern: '(' };
const badSaid = { description: 'Pattern: (' };

const CASES: [string, Json, Json][] = [
  ['not, of a remote reference', one({ not: REMOTE, ...NUMBER }), one({ ...NUMBER, ...must(REMOTE) })],
  ['not, of a pattern that is none', one({ not: bad }), one(must(bad))],
  ['not, of an unknown type', one({ not: { type: 'file' } }), one(must({ type: 'file' }))],
  [
    'not, of what only some read as a null',
    one({ not: { type: 'string', nullable: true } }),
    one(must({ type: 'string', nullable: true })),
  ],
  [
    'not, of a value that is none for its keyword',
    one({ not: { minLength: '3' } }),
    one(must({ minLength: '3' })),
  ],
  [
    'not, of no schema',
    one({ not: { properties: { x: 'the id' } } }),
    one(must({ properties: { x: 'the id' } })),
  ],
  [
    'not, deep within',
    one({ not: { items: { anyOf: [NUMBER, bad] } } }),
    one(must({ items: { anyOf: [NUMBER, bad] } })),
  ],
  [
    'not, through references',
    one({ not: { $ref: '#/$defs/D' } }, { D: { items: { $ref: '#/$defs/E' } }, E: bad }),
    one(must({ $ref: '#/$defs/D' }), { D: { items: { $ref: '#/$defs/E' } }, E: badSaid }),
  ],
  [
    'not, through references in a circle',
    one({ not: { $ref: '#/$defs/D' } }, { D: { items: { $ref: '#/$defs/D' }, allOf: [bad] } }),
    one(must({ $ref: '#/$defs/D' }), { D: { items: { $ref: '#/$defs/D' }, allOf: [badSaid] } }),
  ],
  ['not, long', one({ not: { ...REMOTE, title: 'T'.repeat(600) } }), one({ description: FURTHER })],
  ['not within not', one({ not: { not: REMOTE } }), one(must({ not: REMOTE }))],
  [
    'a place in it that is referred to',
    {
      type: 'object',
      properties: { a: { not: { items: NUMBER, ...bad } }, b: { $ref: '#/properties/a/not/items' } },
    },
    {
      type: 'object',
      properties: { a: must({ items: NUMBER, ...bad }), b: { $ref: '#/$defs/items' } },
      $defs: { items: NUMBER },
    },
  ],
  [
    'if, with its branches',
    one({ ...when(REMOTE, NUMBER, { else: {} }), title: 'T' }),
    one({ title: 'T', description: `Condition: ${JSON.stringify(when(REMOTE, NUMBER, { else: {} }))}.` }),
  ],
  [
    'oneOf, which becomes anyOf',
    one({ oneOf: [REMOTE, NUMBER] }),
    one({ anyOf: [ANY, NUMBER], description: ONLY_ONE }),
  ],
  [
    'oneOf beside anyOf',
    one({ oneOf: [bad, NUMBER], anyOf: [NUMBER], allOf: [{}] }),
    one({ anyOf: [NUMBER], allOf: [{}, { anyOf: [badSaid, NUMBER] }], description: ONLY_ONE }),
  ],
  [
    'a bound on what is contained',
    one({ contains: bad, maxContains: 2, minContains: 1 }),
    one({ contains: badSaid, minContains: 1, description: FURTHER }),
  ],
  [
    'a rule for what a reference did not see',
    one({ allOf: [REMOTE], unevaluatedProperties: false }),
    one({ allOf: [ANY], description: FURTHER }),
  ],
  [
    'a rule for what a condition did not see, within not',
    one({ not: { allOf: [when(bad, { properties: { x: {} } })], unevaluatedProperties: false } }),
    one(must({ allOf: [when(bad, { properties: { x: {} } })], unevaluatedProperties: false })),
  ],
];

test.each(CASES)(
  'what would refuse more, since a part of it accepts more, is only said: %s',
  (_, schema, expected) => {
    const normal = modelSchema(schema);
    expect(normal).toEqual(expected);
    expectLegal(normal);
    expect(modelSchema(normal)).toBe(normal);
  },
);

test.each<[string, Json, Json]>([
  ['anyOf beside not', one({ anyOf: [bad], not: NUMBER }), one({ anyOf: [badSaid], ...must(NUMBER) })],
  [
    'a property beside a rule for the others',
    one({ properties: { x: bad }, unevaluatedProperties: false }),
    one({ properties: { x: badSaid }, description: FURTHER }),
  ],
])('once a part was dropped, all such keywords of the schema become notes: %s', (_, schema, expected) => {
  const normal = modelSchema(schema);
  expect(normal).toEqual(expected);
  expectLegal(normal);
});

test.each<[string, Json, Json]>([
  ['contains without an upper bound', one({ contains: bad }), one({ contains: badSaid })],
  [
    'changed keywords that decide nothing',
    one({ not: { title: 5, examples: 1, $id: 'x', ...NUMBER } }),
    one({ not: { title: '5', examples: [1], ...NUMBER } }),
  ],
])('keywords that cannot refuse more stay: %s', (_, schema, expected) => {
  const normal = modelSchema(schema);
  expect(normal).toEqual(expected);
  expectLegal(normal);
});

test('at the root: no object is refused for what cannot be judged', () => {
  expect(modelSchema({ type: 'object', not: { type: 'any' } })).toEqual({
    type: 'object',
    description: 'Must not be {"type":"any"}.',
    properties: {},
  });
});

test('very many of them that hang on each other take bounded work', () => {
  const names = Array.from({ length: 2000 }, (_, at) => `D${at}`);
  const $defs = Object.fromEntries(
    names.map((name, at) => [name, at === 1999 ? bad : { not: { $ref: `#/$defs/D${at + 1}` }, title: 'T' }]),
  );
  const normal = modelSchema(one({ $ref: '#/$defs/D0' }, $defs));
  expectLegal(normal);
  expect(JSON.stringify(normal)).not.toContain('"not"');
});
