import type { Meter } from './meter.ts';
import { type Schema, withChanges, withNote } from './subschemas.ts';
import type { Widening } from './widening.ts';
import { FURTHER, sayCondition } from './words.ts';

/** What decides what may stay of one schema: `odd` are the objects that hold numbers JSON has no form for. */
type Aids = { readonly widening: Widening; readonly odd: ReadonlySet<unknown>; readonly meter: Meter };

/**
 * One schema of 2020-12 without the keywords that would refuse more because a schema in them now accepts more; they are
 * said in words. `original` is what the schema was written as, by which its marks are known.
 */
export function withoutNarrowing(schema: Schema, original: Schema, aids: Aids): Schema {
  const { widening } = aids;
  const changes = new Map<string, unknown>();
  const notes = new Set<string>();
  const say = (lead: string, condition: unknown, ...parts: unknown[]) =>
    notes.add(parts.some((it) => aids.odd.has(it)) ? FURTHER : sayCondition(lead, condition, aids.meter));
  const { not, if: condition, then, else: otherwise, oneOf } = schema;
  if (not !== undefined && widening.isWider(not)) {
    changes.set('not', undefined);
    say('Must not be', not, not);
  }
  if (condition !== undefined) {
    widening.linkCondition(condition, original);
    if (widening.isWider(condition)) {
      for (const key of ['if', 'then', 'else']) changes.set(key, undefined);
      say('Holds:', { if: condition, then, else: otherwise }, condition, then, otherwise);
    }
  }
  if (Array.isArray(oneOf) && oneOf.some((it) => widening.isWider(it))) {
    changes.set('oneOf', undefined);
    const { allOf } = schema;
    if (schema.anyOf === undefined) changes.set('anyOf', oneOf);
    else changes.set('allOf', [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }]);
    notes.add(ONLY_ONE);
  }
  if (schema.maxContains !== undefined && widening.isWider(schema.contains)) {
    changes.set('maxContains', undefined);
    notes.add(FURTHER);
  }
  const unseen = UNSEEN.filter((key) => schema[key] !== undefined);
  if (unseen.length > 0) {
    widening.linkUnseen(original);
    if (widening.isBlurred(original)) {
      for (const key of unseen) changes.set(key, undefined);
      notes.add(FURTHER);
    }
  }
  return changes.size === 0 ? schema : withNote(withChanges(schema, changes), [...notes].join(' '));
}

const UNSEEN = ['unevaluatedItems', 'unevaluatedProperties'];

const ONLY_ONE = 'Exactly one of the alternatives holds, which the server checks.';
