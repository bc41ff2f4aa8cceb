import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { ARGUMENTS, type Draft, meaning, schemas, unknownParts } from './arbitrary-schemas.ts';
import { acceptor, expectLegal } from './validators.ts';

/** The arguments as a model would give them. */
function model(args: Record<string, unknown>, normal: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(normal.properties as object, 'd_')) return args;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name === 'd<' ? 'd_' : name, value]),
  );
}

/** What accepts by the one and by the other; nothing if a validator cannot follow their references. */
function acceptors(original: object, draft: Draft, normal: object) {
  try {
    return { original: acceptor(original, draft), normal: acceptor(normal, 2020) };
  } catch (cause) {
    if (cause instanceof RangeError || String(cause).includes('resolve')) return undefined;
    throw cause;
  }
}

/** References that a validator would follow for ever (of schemas as small as these) are not tested here. */
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
        // It may be said at any depth.
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
    // The test says something only if all of these occur often.
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(10);
  },
);

/** A remote schema may be any of these, and the others at least the first two. */
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
