import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { shortHash } from '../unique-names.ts';
import { Meter, TooLarge } from './meter.ts';
import { freeRoot, plainRoot } from './root.ts';
import { FURTHER_CONDITIONS } from './shape.ts';
import {
  mapSubschemas,
  openRoot,
  type Schema,
  TOO_DEEP,
  TOO_LARGE,
  withChanges,
  withNote,
} from './subschemas.ts';
import { isBareArray, type Survey, survey } from './survey.ts';
import { upgrade } from './upgrade.ts';

/**
 * A tool's input schema as the model APIs take it: draft 2020-12, references only within it, and a root that is
 * `{ type: 'object', properties }` without alternatives, references or conditions. The same object where nothing had
 * to change.
 *
 * It accepts exactly the objects that the given one accepts, wherever that can be written so. Else it accepts more,
 * never less, and the root's description says in words what is missing; the server checks its arguments anyhow.
 * Wider are: alternatives at the root (all their properties, each in any of its forms; required is what all require),
 * `not`, `if`, `enum` and `const` there, references that lead nowhere, keywords whose values are not legal, anywhere
 * what would refuse more because of these (a `not` of such a reference), and schemas that are too large or nested too
 * deeply. Arguments whose names an API refuses have others; `argumentsFor` takes those back.
 */
export function modelSchema(schema: JsonSchema): JsonSchema {
  return normalForm(schema).schema;
}

/**
 * The arguments under the names the server declared, from those a model gave under the names of `modelSchema(schema)`.
 * Only names at the top change, only those that had to be replaced; the same object if none is there.
 */
export function serverArguments(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const names = declaredNames(schema);
  if (names.size === 0) return args;
  const given = Object.keys(args);
  if (!given.some((name) => names.has(name))) return args;
  const renamed = given.filter((name) => names.has(name));
  // The name that was offered wins over the server's own, should a model send both.
  const renamedTo = new Set(renamed.map((alias) => names.get(alias)));
  const entries = given
    .filter((name) => names.has(name) || !renamedTo.has(name))
    .map((name): [string, unknown] => [names.get(name) ?? name, args[name]]);
  return Object.fromEntries(entries);
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();
/** A tool is called more often than it is defined. */
const namesBySchema = new WeakMap<JsonSchema, ReadonlyMap<string, string>>();

/** From the argument names that models use to the server's names, where they differ. */
function declaredNames(schema: JsonSchema): ReadonlyMap<string, string> {
  if (!isRecord(schema)) return NO_NAMES;
  let names = namesBySchema.get(schema);
  if (!names) {
    names = new Map(Array.from(safeAliases(schema), ([name, alias]) => [alias, name]));
    namesBySchema.set(schema, names);
  }
  return names;
}

function safeAliases(schema: JsonSchema): ReadonlyMap<string, string> {
  try {
    return normalForm(schema).aliases;
  } catch {
    // A model was told nothing of what cannot be read.
    return NO_NAMES;
  }
}

/** A schema in the form for models, and its renamed arguments: from the server's name to the model's name. */
type NormalForm = { readonly schema: JsonSchema; readonly aliases: ReadonlyMap<string, string> };

/** Normalizes any schema in bounded time and memory; a schema that would exceed the limits becomes an open root with a note. */
function normalForm(schema: JsonSchema): NormalForm {
  if (!isRecord(schema)) return { schema: { type: 'object', properties: {} }, aliases: NO_NAMES };
  const facts = survey(schema, MAX_SCHEMA_LENGTH);
  const open = (why: string): NormalForm => ({ schema: openRoot(schema, why), aliases: NO_NAMES });
  if (facts.isDeep) return open(TOO_DEEP);
  if (facts.isLarge) return open(TOO_LARGE);
  const meter = new Meter(MAX_STEPS);
  const maxLength = Math.min(MAX_SCHEMA_LENGTH, 4 * facts.size + SPARE);
  try {
    const plain = plainSchema(schema, facts, meter);
    const aliases = argumentAliases(plain, meter);
    const named = withAliases(plain, aliases, meter);
    const normal = facts.hasBareArrays ? withArrayItems(named, maxLength) : named;
    if (normal === schema) return { schema, aliases };
    const { isDeep, isLarge } = survey(normal, maxLength);
    if (isDeep) return open(TOO_DEEP);
    return isLarge ? open(TOO_LARGE) : { schema: normal, aliases };
  } catch (cause) {
    if (cause instanceof TooLarge) return open(TOO_LARGE);
    throw cause;
  }
}

/** In characters. The largest of thousands of real schemas has 84,000, and a model that read one of this size little else. */
const MAX_SCHEMA_LENGTH = 600_000;
/** What a small schema may become larger by, over four times its size. */
const SPARE = 64_000;
/** Some dozen times what the largest real schema takes; about a tenth of a second. */
const MAX_STEPS = 1_500_000;

/** The schema in draft 2020-12 with a plain object for its root, its arguments still under the server's names. */
function plainSchema(schema: Schema, facts: Survey, meter: Meter): Schema {
  return plainRoot(upgrade(schema, facts, meter), meter);
}

/**
 * Some APIs refuse an array that says nothing of its items; `unevaluatedItems` would no longer see any of them. A schema
 * that grew beyond `most` characters is of no use, and left as it is.
 */
function withArrayItems(schema: Schema, maxLength: number): Schema {
  const { isLarge, isDeep, hasUnevaluatedItems } = survey(schema, maxLength);
  return isLarge || isDeep || hasUnevaluatedItems ? schema : withItems(schema);
}

function withItems(schema: Schema): Schema {
  const mapped = mapSubschemas(schema, withItems);
  return isBareArray(mapped) ? { ...mapped, items: {} } : mapped;
}

/** The names a model API takes for the arguments of a tool; those of values inside them are free. */
const ACCEPTED = /^[a-zA-Z0-9_.-]{1,64}$/;

const STEPS_PER_ALIAS = 64;

/** The arguments of a plain root that a model must know by another name: from their own to that. */
function argumentAliases(root: Schema, meter: Meter): ReadonlyMap<string, string> {
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

/** The root with those arguments renamed; the description of each names the original. */
function withAliases(schema: Schema, aliases: ReadonlyMap<string, string>, meter: Meter): Schema {
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
  return withNote(withChanges(root, changes), FURTHER_CONDITIONS);
}
