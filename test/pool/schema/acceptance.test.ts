import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { ARGUMENTS, type Draft, meaning, schemas, unknownParts } from './arbitrary-schemas.ts';
import { acceptor, expectLegal } from './validators.ts';

/** The arguments under the names that the model uses. */
function model(args: Record<string, unknown>, normal: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(normal.properties as object, 'd_')) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name === 'd<' ? 'd_' : name, value]),
  );
}

/** Validators for the original schema and its normal form; undefined if ajv cannot resolve their references. */
function acceptors(original: object, draft: Draft, normal: object) {
  try {
    return { original: acceptor(original, draft), normal: acceptor(normal, 2020) };
  } catch (cause) {
    if (cause instanceof RangeError || String(cause).includes('resolve')) return undefined;
    throw cause;
  }
}

/** Whether a value is accepted; undefined if the validator follows references without end. */
function answer(accepts: (value: unknown) => boolean, value: unknown): boolean | undefined {
  try {
    return accepts(value);
  } catch {
    return undefined;
  }
}

test.each<Draft>([7, 2020])(
  'what a schema of draft %s accepts is accepted, and nothing else unless it says so',
  (draft) => {
    const seen = { accepted: 0, refused: 0, exact: 0, wider: 0 };
    fc.assert(
      fc.property(schemas(draft), fc.array(ARGUMENTS, { minLength: 8, maxLength: 8 }), (schema, values) => {
        const before = JSON.stringify(schema);
        const normal = modelSchema(schema);
        expect(JSON.stringify(schema)).toBe(before);
        expectLegal(normal);
        expect(JSON.stringify(modelSchema(normal))).toBe(JSON.stringify(normal));
        const accepts = acceptors(schema, draft, normal);
        if (accepts === undefined) return;
        // A note about omitted constraints may be at any depth.
        const isExact = !JSON.stringify(normal).includes('"description":"');
        seen[isExact ? 'exact' : 'wider']++;
        for (const value of values) {
          const original = answer(accepts.original, value);
          const now = answer(accepts.normal, model(value, normal));
          if (original === undefined || now === undefined) continue;
          seen[original ? 'accepted' : 'refused']++;
          if (original) expect({ value, now }).toEqual({ value, now: true });
          else if (isExact) expect({ value, now }).toEqual({ value, now: false });
        }
      }),
      { numRuns: 200 },
    );
    // The test is meaningful only if each of these cases occurs often.
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(10);
  },
);

/** Possible meanings of parts that cannot be evaluated: a remote schema may have any of them. */
const MEANINGS: unknown[] = [
  true,
  false,
  { type: 'number' },
  { properties: { b: true }, required: ['b'] },
  { prefixItems: [true, true] },
];

test.each<Draft>([7, 2020])(
  'whatever the parts of a schema of draft %s mean that cannot be judged, what it accepts is accepted',
  (draft) => {
    const seen = { accepted: 0, refused: 0, narrow: 0 };
    fc.assert(
      fc.property(
        schemas(draft, unknownParts),
        fc.constantFrom(...MEANINGS),
        fc.array(ARGUMENTS, { minLength: 8, maxLength: 8 }),
        (schema, as, values) => {
          const normal = modelSchema(schema);
          expectLegal(normal);
          expect(JSON.stringify(modelSchema(normal))).toBe(JSON.stringify(normal));
          const accepts = acceptors(meaning(schema, as) as object, draft, normal);
          if (accepts === undefined) return;
          for (const value of values) {
            const before = answer(accepts.original, value);
            const now = answer(accepts.normal, model(value, normal));
            if (before === undefined || now === undefined) continue;
            seen[before ? 'accepted' : 'refused']++;
            if (!now) seen.narrow++;
            if (before) expect({ value, now, as }).toEqual({ value, now: true, as });
          }
        },
      ),
      { numRuns: 120 },
    );
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(10);
  },
);
