import { expect, test } from 'vitest';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { expectLegal } from './validators.ts';

const VALUES =
  'Only some values are right, of which one holds a number too large to be shown; the server checks them.';
const FURTHER = 'Further conditions hold, which the server checks.';
const ONLY_ONE = 'Exactly one of the alternatives holds, which the server checks.';
const DEFAULT = 'Its default holds a number too large to be shown.';

test.each<[string, object]>([
  ['{"type":"number","maximum":1e400,"minimum":-1e400}', { type: 'number' }],
  ['{"exclusiveMaximum":1e400,"exclusiveMinimum":-1e400,"multipleOf":1e999}', {}],
  ['{"minimum":1e400,"exclusiveMinimum":true}', {}],
  ['{"minLength":1e400,"maxItems":1e400}', {}],
  ['{"type":"number","enum":[1,1e400]}', { type: 'number', description: VALUES }],
  ['{"enum":[1,{"a":[-1e400]}],"description":"D."}', { description: `D. ${VALUES}` }],
  ['{"const":1e400}', { description: VALUES }],
  ['{"const":{"a":{"b":1e400}},"default":1e400}', { description: `${VALUES} ${DEFAULT}` }],
  ['{"not":{"enum":[1e400]},"type":"number"}', { type: 'number', description: FURTHER }],
  [
    '{"oneOf":[{"const":1e400},{"type":"number"}]}',
    { anyOf: [{ description: VALUES }, { type: 'number' }], description: ONLY_ONE },
  ],
  ['{"if":{"const":1e400},"then":{"type":"number"}}', { description: FURTHER }],
  [
    '{"contains":{"const":1e400},"maxContains":0}',
    { contains: { description: VALUES }, description: FURTHER },
  ],
  ['{"not":{"type":"number","default":1e400}}', { not: { type: 'number', description: DEFAULT } }],
  ['{"not":{"minimum":1e400}}', { description: FURTHER }],
  ['{"anyOf":[{"const":1e400}]}', { anyOf: [{ description: VALUES }] }],
  ['{"type":"number","default":1e400}', { type: 'number', description: DEFAULT }],
  ['{"default":[1e400],"enum":[1]}', { enum: [1], description: DEFAULT }],
  ['{"examples":[1,1e400,{"a":1e400},{"a":1}]}', { examples: [1, { a: 1 }] }],
  ['{"enum":[1,null],"maximum":1e308}', { enum: [1, null], maximum: 1e308 }],
  ['{"items":{"enum":[1e400]}}', { items: { description: VALUES } }],
  [
    '{"properties":{"enum":{"maximum":1e400},"const":{"enum":[2]}}}',
    { properties: { enum: {}, const: { enum: [2] } } },
  ],
])('numbers that JSON cannot hold do not become null: %s', (text, expected) => {
  const normal = modelSchema({ type: 'object', properties: { a: JSON.parse(text) } });
  expect(normal).toEqual({ type: 'object', properties: { a: expected } });
  expect(JSON.parse(JSON.stringify(normal))).toEqual(normal);
  expectLegal(JSON.parse(JSON.stringify(normal)));
  expect(modelSchema(normal)).toBe(normal);
});

test('at the root they are dropped as well', () => {
  const schema = JSON.parse('{"type":"object","const":{"a":1e400},"minProperties":1e400}');
  expect(modelSchema(schema)).toEqual({ type: 'object', properties: {}, description: VALUES });
});
