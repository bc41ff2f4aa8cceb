import type { Meter } from './meter.ts';
import { plainRoot } from './root.ts';
import { mapSubschemas, type Schema } from './subschemas.ts';
import { isBareArray, type Survey, survey } from './survey.ts';
import { upgrade } from './upgrade.ts';

/** The schema in draft 2020-12 with a plain object for its root, its arguments still under the server's names. */
export function plainSchema(schema: Schema, facts: Survey, meter: Meter): Schema {
  return plainRoot(upgrade(schema, facts, meter), meter);
}

/**
 * Some APIs refuse an array that says nothing of its items; `unevaluatedItems` would no longer see any of them. A schema
 * that grew beyond `most` characters is of no use, and left as it is.
 */
export function withArrayItems(schema: Schema, most: number): Schema {
  const { isLarge, isDeep, hasUnevaluatedItems } = survey(schema, most);
  return isLarge || isDeep || hasUnevaluatedItems ? schema : withItems(schema);
}

function withItems(schema: Schema): Schema {
  const mapped = mapSubschemas(schema, withItems);
  return isBareArray(mapped) ? { ...mapped, items: {} } : mapped;
}
