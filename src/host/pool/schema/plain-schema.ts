import type { Meter } from './meter.ts';
import { plainRoot } from './root.ts';
import { mapSubschemas, type Schema } from './subschemas.ts';
import { isBareArray, type Survey, survey } from './survey.ts';
import { upgrade } from './upgrade.ts';

/**
 * The schema in draft 2020-12 with a plain object for its root, its arguments still under the server's names. One that
 * grew beyond `most` characters is of no use, and may be left half done.
 */
export function plainSchema(schema: Schema, facts: Survey, most: number, meter: Meter): Schema {
  const plain = plainRoot(upgrade(schema, facts, meter), meter);
  if (!facts.hasBareArrays) return plain;
  const { isLarge, isDeep, hasUnevaluatedItems } = survey(plain, most);
  return isLarge || isDeep || hasUnevaluatedItems ? plain : withItems(plain);
}

/** Some APIs refuse an array that says nothing of its items; `unevaluatedItems` would no longer see any of them. */
function withItems(schema: Schema): Schema {
  const mapped = mapSubschemas(schema, withItems);
  return isBareArray(mapped) ? { ...mapped, items: {} } : mapped;
}
