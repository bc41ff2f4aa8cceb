import { isRecord } from '../../base/json-value.ts';
import { shapeOf } from './combine-shapes.ts';
import type { Meter } from './meter.ts';
import { FreshNames, readPointer, stepInto } from './references.ts';
import { Merging, schemaOf } from './shape.ts';
import { mapSubschemas, openRoot, type Schema, withChanges } from './subschemas.ts';

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

/** How many schemas are merged into a root; a note stands for further ones. */
const MAX_MERGED_SCHEMAS = 64;

function merged(schema: Schema, meter: Meter): Schema {
  const freed = freeRoot(schema, 'parts', meter);
  const own = isRecord(freed.$defs) ? freed.$defs : {};
  const merging = new Merging(Object.keys(own), meter);
  const shape = shapeOf(freed, { document: freed, left: MAX_MERGED_SCHEMAS, path: [], merging });
  if (shape === undefined) {
    return openRoot(schema, 'By its own schema this tool takes no arguments at all; the server checks them.');
  }
  const $defs = Object.fromEntries([...Object.entries(own), ...merging.definitions]);
  return pruneDefinitions({ ...schemaOf(shape), $defs }, meter);
}

function withProperties(schema: Schema): Schema {
  return withChanges(schema, new Map([['properties', {}]]));
}

/**
 * The schema with no reference to its root (`self`), or to anything but definitions (`parts`), so that the root can
 * change without changing what references mean: what they meant becomes a definition.
 */
export function freeRoot(schema: Schema, from: 'self' | 'parts', meter: Meter): Schema {
  const names = new Map<string, string>();
  const own = isRecord(schema.$defs) ? schema.$defs : {};
  const fresh = new FreshNames(Object.keys(own));
  for (const ref of referencesIn(schema, meter)) {
    const tokens = readPointer(ref.slice(1)) ?? [];
    const isStable = from === 'self' ? tokens.length > 0 : tokens[0] === '$defs' && tokens.length > 1;
    if (!isStable) names.set(ref, fresh.next(tokens.at(-1) ?? 'root'));
  }
  if (names.size === 0) return schema;
  const point = (it: Schema): Schema => {
    meter.spend(Object.keys(it).length + 1);
    const mapped = mapSubschemas(it, point);
    const name = typeof it.$ref === 'string' ? names.get(it.$ref) : undefined;
    return name === undefined ? mapped : { ...mapped, $ref: `#/$defs/${name}` };
  };
  const { $defs, ...root } = schema;
  const added = [...names].map(([ref, name]): [string, unknown] => {
    const tokens = readPointer(ref.slice(1)) ?? [];
    const target = tokens.reduce<unknown>((at, token) => stepInto(at, token), root);
    return [name, isRecord(target) ? point(target) : target];
  });
  const freed = point({ ...root, $defs: own });
  return { ...freed, $defs: Object.fromEntries([...Object.entries(freed.$defs as Schema), ...added]) };
}

/** The schema without definitions that nothing in it leads to. */
function pruneDefinitions(schema: Schema, meter: Meter): Schema {
  const { $defs, ...root } = schema;
  if (!isRecord($defs)) return schema;
  const used = new Set<string>();
  const open = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const ref of referencesIn(at, meter)) {
      const [first, name] = readPointer(ref.slice(1)) ?? [];
      if (first !== '$defs' || name === undefined || used.has(name)) continue;
      used.add(name);
      const definition = stepInto($defs, name);
      if (isRecord(definition)) open.push(definition);
    }
  }
  if (used.size === 0) return root;
  return { ...root, $defs: Object.fromEntries(Object.entries($defs).filter(([name]) => used.has(name))) };
}

function referencesIn(schema: Schema, meter: Meter): Set<string> {
  const found = new Set<string>();
  const look = (it: Schema): Schema => {
    meter.spend(Object.keys(it).length + 1);
    if (typeof it.$ref === 'string') {
      meter.read(it.$ref);
      found.add(it.$ref);
    }
    return mapSubschemas(it, look);
  };
  look(schema);
  return found;
}
