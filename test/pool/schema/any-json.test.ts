import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelSchema, serverArguments } from '../../../src/pool/schema/model-schema.ts';

import { expectLegal } from './validators.ts';

const KEYS = (
  '$anchor $defs $dynamicAnchor $dynamicRef $id $recursiveRef $ref $schema __proto__ a additionalItems ' +
  'additionalProperties allOf anyOf const constructor contains definitions dependencies dependentRequired ' +
  'dependentSchemas description else enum examples exclusiveMinimum if id items minLength minimum multipleOf not ' +
  'nullable oneOf pattern patternProperties prefixItems properties propertyNames required then title type ' +
  'unevaluatedItems unevaluatedProperties uniqueItems'
).split(' ');

const { json: SCHEMA_LIKE } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', maxDepth: 6 },
    fc.constantFrom<unknown>(
      ...[null, true, false, 0, -1, 1.5, '', 'a', 'object', 'array', 'any', '(', '^a'],
      ...[
        '#',
        '#a',
        '#/',
        '#/$defs/a',
        '#/definitions/a',
        '#/properties/a',
        '#/anyOf/0',
        '#/allOf/0/a',
        '#/%',
        '#/a/~2',
      ],
      ...[
        'x.json',
        'x.json#a',
        'https://example.com/x',
        'http://json-schema.org/draft-04/schema#',
        'urn:x:y',
      ],
      ...[
        'http://json-schema.org/draft-07/schema#',
        'https://json-schema.org/draft/2019-09/schema',
        ['object', 'null'],
      ],
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie('json')), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

const ROOT = fc.array(fc.tuple(fc.constantFrom(...KEYS), SCHEMA_LIKE), { minLength: 1, maxLength: 8 });

test.each([
  ['made of keywords', ROOT.map((entries): unknown => Object.fromEntries(entries)), 1500],
  ['of any kind', fc.jsonValue(), 300],
])(
  'JSON %s becomes a schema the APIs take, the same each time, and is left as it was',
  (_, arbitrary, numRuns) => {
    fc.assert(
      fc.property(arbitrary, (json) => {
        const before = JSON.stringify(json);
        const normal = modelSchema(json as Record<string, unknown>);
        expectLegal(normal);
        expect(JSON.stringify(json)).toBe(before);
        expect(JSON.stringify(modelSchema(JSON.parse(before)))).toBe(JSON.stringify(normal));
        expect(JSON.stringify(modelSchema(normal))).toBe(JSON.stringify(normal));
        expect(serverArguments(json as Record<string, unknown>, {})).toEqual({});
      }),
      { numRuns },
    );
  },
);
