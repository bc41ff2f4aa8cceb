import { isRecord } from '../../base/json-value.ts';
import { FreshNames } from './fresh-names.ts';
import type { Meter } from './meter.ts';
import { readPointer, stepInto } from './pointer.ts';
import { mapSubschemas, type Schema } from './subschemas.ts';

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
export function pruneDefinitions(schema: Schema, meter: Meter): Schema {
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
