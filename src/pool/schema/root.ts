import { isRecord } from '../../base/json-value.ts';
import { freeRoot, pruneDefinitions } from './free-root.ts';
import { Merging } from './merging.ts';
import type { Meter } from './meter.ts';
import { openRoot } from './open-root.ts';
import { schemaOf } from './shape.ts';
import { shapeOf } from './shape-of.ts';
import { type Schema, withChanges } from './subschemas.ts';

/** A schema of 2020-12 whose root is a plain object: the same one, or the shape of all that its root applies. */
export function plainRoot(schema: Schema, meter: Meter): Schema {
  const isPlain = REFUSED.every((key) => !Object.hasOwn(schema, key));
  if (!isPlain) return merged(schema, meter);
  if (schema.type === 'object') {
    return Object.hasOwn(schema, 'properties') ? schema : withProperties(schema);
  }
  const { type } = schema;
  if (type !== undefined && !(Array.isArray(type) && type.includes('object'))) return merged(schema, meter);
  // Elsewhere a reference to the root may still be met by what is no object.
  const freed = withChanges(freeRoot(schema, 'self', meter), new Map([['type', 'object']]));
  const { type: object, ...rest } = Object.hasOwn(freed, 'properties') ? freed : withProperties(freed);
  return { type: object, ...rest };
}

/** What the model APIs refuse at the root. */
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** So many schemas are taken together at a root; what is beyond is only said to be there. */
const MOST = 64;

function merged(schema: Schema, meter: Meter): Schema {
  const freed = freeRoot(schema, 'parts', meter);
  const own = isRecord(freed.$defs) ? freed.$defs : {};
  const merging = new Merging(Object.keys(own), meter);
  const shape = shapeOf(freed, { document: freed, left: MOST, path: [], merging });
  if (shape === undefined) {
    return openRoot(schema, 'By its own schema this tool takes no arguments at all; the server checks them.');
  }
  const $defs = Object.fromEntries([...Object.entries(own), ...merging.definitions]);
  return pruneDefinitions({ ...schemaOf(shape), $defs }, meter);
}

function withProperties(schema: Schema): Schema {
  return withChanges(schema, new Map([['properties', {}]]));
}
