import { isRecord } from '../../base/json-value.ts';
import { shortHash } from '../alias.ts';
import { freeRoot } from './free-root.ts';
import type { Meter } from './meter.ts';
import { type Schema, withChanges, withNote } from './subschemas.ts';
import { FURTHER } from './words.ts';

/** The names a model API takes for the arguments of a tool; those of values inside them are free. */
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;

const STEPS_PER_ALIAS = 64;

/** The arguments of a plain root that a model must know by another name: from their own to that. */
export function argumentAliases(root: Schema, meter: Meter): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  const names = isRecord(root.properties) ? Object.keys(root.properties) : [];
  const odd = names.filter((name) => !ACCEPTED.test(name));
  if (odd.length === 0) return aliases;
  const taken = new Set<unknown>([...names, ...(Array.isArray(root.required) ? root.required : [])]);
  for (const name of odd) {
    meter.read(name);
    meter.spend(STEPS_PER_ALIAS);
    const plain = name.replace(/[^a-zA-Z0-9_.-]/gu, '_').slice(0, 64) || '_';
    let alias = plain;
    for (let salt = 0; taken.has(alias); salt++) {
      meter.read(name);
      alias = `${plain.slice(0, 55)}_${shortHash(salt === 0 ? name : `${name}${salt}`)}`;
    }
    taken.add(alias);
    aliases.set(name, alias);
  }
  return aliases;
}

/** The root with those arguments under their other names, each of which says what it stands for. */
export function withAliases(schema: Schema, aliases: ReadonlyMap<string, string>, meter: Meter): Schema {
  if (aliases.size === 0) return schema;
  const root = freeRoot(schema, 'parts', meter);
  const rename = (name: unknown) => aliases.get(name as string) ?? name;
  const changes = new Map<string, unknown>();
  const properties = Object.entries(root.properties as Record<string, Schema>).map(([name, form]) => {
    const alias = aliases.get(name);
    return alias === undefined ? [name, form] : [alias, withNote(form, `Sent as ${JSON.stringify(name)}.`)];
  });
  changes.set('properties', Object.fromEntries(properties));
  if (Array.isArray(root.required)) changes.set('required', root.required.map(rename));
  if (isRecord(root.dependentRequired)) {
    const lists = Object.entries(root.dependentRequired as Record<string, unknown[]>);
    const renamed = lists.map(([name, needs]) => [rename(name), needs.map(rename)]);
    changes.set('dependentRequired', Object.fromEntries(renamed));
  }
  const byName = ['patternProperties', 'propertyNames', 'dependentSchemas'].filter((key) =>
    Object.hasOwn(root, key),
  );
  // These go by the names a server sees, so they cannot be asked of the others.
  if (byName.length === 0) return withChanges(root, changes);
  for (const key of [...byName, 'additionalProperties', 'unevaluatedProperties']) changes.set(key, undefined);
  return withNote(withChanges(root, changes), FURTHER);
}
