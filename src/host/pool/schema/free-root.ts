import { isRecord } from '../../../base/is-record.ts';
import { readPointer, stepInto } from './pointer.ts';
import { mapSubschemas, type Schema } from './subschemas.ts';

/**
 * The schema with no reference to its root (`self`), or to anything but definitions (`parts`), so that the root can
 * change without changing what references mean: what they meant becomes a definition.
 */
export function freeRoot(schema: Schema, from: 'self' | 'parts'): Schema {
  const names = new Map<string, string>();
  const own = isRecord(schema.$defs) ? schema.$defs : {};
  const taken = new Set(Object.keys(own));
  for (const ref of referencesIn(schema)) {
    const tokens = readPointer(ref.slice(1)) ?? [];
    const isStable = from === 'self' ? tokens.length > 0 : tokens[0] === '$defs' && tokens.length > 1;
    if (!isStable) names.set(ref, freshName(tokens.at(-1) ?? 'root', taken));
  }
  if (names.size === 0) return schema;
  const point = (it: Schema): Schema => {
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
export function pruneDefinitions(schema: Schema): Schema {
  const { $defs, ...root } = schema;
  if (!isRecord($defs)) return schema;
  const used = new Set<string>();
  const open = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const ref of referencesIn(at)) {
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

function referencesIn(schema: Schema): Set<string> {
  const found = new Set<string>();
  const look = (it: Schema): Schema => {
    if (typeof it.$ref === 'string') found.add(it.$ref);
    return mapSubschemas(it, look);
  };
  look(schema);
  return found;
}

function freshName(wanted: string, taken: Set<string>): string {
  const plain = wanted.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?=\d|$)/, 'schema');
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
  taken.add(name);
  return name;
}
