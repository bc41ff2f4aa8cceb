import { expect, test } from 'vitest';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { expectLegal } from './validators.ts';

const FURTHER = 'Additional constraints apply; the server validates them.';
const ONLY_ONE = 'Exactly one of the alternatives must match; the server validates this.';

test.each<[string, object]>([
  ['{"type":"number","maximum":1e400,"minimum":-1e400}', { type: 'number' }],
  ['{"exclusiveMaximum":1e400,"exclusiveMinimum":-1e400,"multipleOf":1e999}', {}],
  ['{"minimum":1e400,"exclusiveMinimum":true}', {}],
  ['{"minLength":1e400,"maxItems":1e400}', {}],
  ['{"type":"number","enum":[1,1e400]}', { type: 'number', description: FURTHER }],
  ['{"enum":[1,{"a":[-1e400]}],"description":"D."}', { description: `D. ${FURTHER}` }],
  ['{"const":1e400}', { description: FURTHER }],
  ['{"const":{"a":{"b":1e400}},"default":1e400}', { description: FURTHER }],
  ['{"not":{"enum":[1e400]},"type":"number"}', { type: 'number', description: FURTHER }],
  [
    '{"oneOf":[{"const":1e400},{"type":"number"}]}',
    { anyOf: [{ description: FURTHER }, { type: 'number' }], description: ONLY_ONE },
  ],
  ['{"if":{"const":1e400},"then":{"type":"number"}}', { description: FURTHER }],
  [
    '{"contains":{"const":1e400},"maxContains":0}',
    { contains: { description: FURTHER }, description: FURTHER },
  ],
  ['{"not":{"type":"number","default":1e400}}', { not: { type: 'number' } }],
  ['{"not":{"minimum":1e400}}', { description: FURTHER }],
  ['{"anyOf":[{"const":1e400}]}', { anyOf: [{ description: FURTHER }] }],
  ['{"type":"number","default":1e400}', { type: 'number' }],
  ['{"default":[1e400],"enum":[1]}', { enum: [1] }],
  ['{"examples":[1,1e400,{"a":1e400},{"a":1}]}', { examples: [1, { a: 1 }] }],
  ['{"enum":[1,null],"maximum":1e308}', { enum: [1, null], maximum: 1e308 }],
  ['{"items":{"enum":[1e400]}}', { items: { description: FURTHER } }],
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
  expect(modelSchema(schema)).toEqual({ type: 'object', properties: {}, description: FURTHER });
});
