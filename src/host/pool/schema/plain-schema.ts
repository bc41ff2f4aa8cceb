import { isRecord } from '../../../base/is-record.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { plainRoot } from './root.ts';
import { mapSubschemas, type Schema, withNote } from './subschemas.ts';
import { isBareArray, survey } from './survey.ts';
import { upgrade } from './upgrade.ts';

/** The schema in draft 2020-12 with a plain object for its root, its arguments still under the server's names. */
export function plainSchema(schema: JsonSchema): JsonSchema {
  if (!isRecord(schema)) return { type: 'object', properties: {} };
  const facts = survey(schema);
  if (!facts.isDeep) {
    const plain = plainRoot(upgrade(schema, facts));
    return facts.hasBareArrays && !survey(plain).hasUnevaluatedItems ? withItems(plain) : plain;
  }
  const { description } = schema;
  const root = {
    type: 'object',
    ...(typeof description === 'string' ? { description } : {}),
    properties: {},
  };
  return withNote(
    root,
    'The schema of the arguments is nested too deeply to be shown; the server checks them.',
  );
}

/** Some APIs refuse an array that says nothing of its items; `unevaluatedItems` would no longer see any of them. */
function withItems(schema: Schema): Schema {
  const mapped = mapSubschemas(schema, withItems);
  return isBareArray(mapped) ? { ...mapped, items: {} } : mapped;
}
