import { describeCondition, FURTHER_CONDITIONS, type Schema, withChanges, withNote } from './subschemas.ts';

/**
 * One schema of 2020-12 without the keywords by which it refuses values that a schema in it accepts; notes describe
 * them instead.
 */
export function withoutNarrowing(schema: Schema): Schema {
  const changes = new Map<string, unknown>();
  const notes = new Set<string>();
  const drop = (...keys: string[]) => {
    for (const key of keys) changes.set(key, undefined);
  };
  const { not, if: condition, then, else: otherwise, oneOf, anyOf, allOf } = schema;
  if (not !== undefined && !isNothing(not)) {
    drop('not');
    notes.add(describeCondition('Must not be', not));
  }
  if (condition !== undefined) {
    drop('if', 'then', 'else');
    notes.add(describeCondition('Condition:', { if: condition, then, else: otherwise }));
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) {
    drop('oneOf');
    if (anyOf === undefined) changes.set('anyOf', oneOf);
    else changes.set('allOf', [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }]);
    notes.add(ONLY_ONE);
  }
  const dropped = COUNTING.filter((key) => schema[key] !== undefined);
  if (dropped.length > 0) {
    drop(...dropped);
    notes.add(FURTHER_CONDITIONS);
  }
  return changes.size === 0 ? schema : withNote(withChanges(schema, changes), [...notes].join(' '));
}

/** These depend on which items and properties other keywords accept. */
const COUNTING = ['maxContains', 'unevaluatedItems', 'unevaluatedProperties'];

const ONLY_ONE = 'Exactly one of the alternatives must match; the server validates this.';

/** `not: {}` is how a schema that accepts nothing is written. */
function isNothing(not: unknown): boolean {
  return typeof not === 'object' && not !== null && Object.keys(not).length === 0;
}
