import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { shortHash } from '../unique-names.ts';
import {
  FURTHER_CONDITIONS,
  mapSubschemas,
  openRoot,
  type Schema,
  TOO_DEEP,
  TOO_LARGE,
  TooLarge,
  withChanges,
  withNote,
} from './keywords.ts';
import { isSchema, readPointer, stepInto } from './references.ts';
import { schemaOf, shapeOf } from './shape.ts';
import { upgrade } from './upgrade.ts';

/**
 * A tool's input schema in the form that model APIs accept: draft 2020-12, references only within the schema, and a root
 * `{ type: 'object', properties }` without alternatives, references or conditions. The same object if nothing had to
 * change.
 *
 * The result accepts exactly the objects that the given schema accepts, if that can be expressed. Otherwise it accepts
 * more, never less, and descriptions say what is missing; the server validates its arguments anyway. It accepts more for
 * alternatives at the root (all their properties, each in any of its forms; required is what all require), for `not`,
 * `if`, `enum` and `const` there, for references to schemas outside the document, for keywords with invalid values, and
 * for schemas that are too large or too deep. Arguments whose names an API rejects are renamed; `serverArguments` renames
 * them back.
 */
export function modelSchema(schema: JsonSchema): JsonSchema {
  return normalForm(schema).schema;
}

/** The arguments of a model with renamed ones under the server's names again; the same object if none was renamed. */
export function serverArguments(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const names = declaredNames(schema);
  if (names.size === 0) return args;
  const given = Object.keys(args);
  if (!given.some((name) => names.has(name))) return args;
  const renamed = given.filter((name) => names.has(name));
  // If a model sends both names, the one in its schema wins.
  const renamedTo = new Set(renamed.map((alias) => names.get(alias)));
  const entries = given
    .filter((name) => names.has(name) || !renamedTo.has(name))
    .map((name): [string, unknown] => [names.get(name) ?? name, args[name]]);
  return Object.fromEntries(entries);
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();
/** Cached, because a tool is called more often than it is defined. */
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
    // The model received an open schema without renamed arguments.
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
  const maxLength = Math.min(MAX_SCHEMA_LENGTH, 4 * facts.size + MAX_GROWTH);
  try {
    const keepsPlaces = isPlainRoot(schema) && hasAcceptedNames(schema);
    const plain = plainRoot(upgrade(schema, { hasNames: facts.hasNames, keepsPlaces }));
    const aliases = argumentAliases(plain);
    const named = withAliases(plain, aliases);
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

/** Maximum length of a schema in characters of JSON; the largest of thousands of real schemas has 84,000. */
const MAX_SCHEMA_LENGTH = 600_000;
/** How many characters longer than four times its length a schema may become. */
const MAX_GROWTH = 64_000;

/** Some APIs reject an array schema without `items`. With `unevaluatedItems`, adding it would change the meaning. */
function withArrayItems(schema: Schema, maxLength: number): Schema {
  const { isLarge, isDeep, hasUnevaluatedItems } = survey(schema, maxLength);
  return isLarge || isDeep || hasUnevaluatedItems ? schema : withItems(schema);
}

function withItems(schema: Schema): Schema {
  const mapped = mapSubschemas(schema, withItems);
  return isBareArray(mapped) ? { ...mapped, items: {} } : mapped;
}

/** The argument names that model APIs accept; names within arguments are not restricted. */
const ACCEPTED_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

function hasAcceptedNames({ properties }: Schema): boolean {
  return !isRecord(properties) || Object.keys(properties).every((name) => ACCEPTED_NAME.test(name));
}

/** The arguments of a plain root that are renamed for models: from the server's name to the model's name. */
function argumentAliases(root: Schema): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  const names = isRecord(root.properties) ? Object.keys(root.properties) : [];
  const taken = new Set<unknown>([...names, ...(Array.isArray(root.required) ? root.required : [])]);
  for (const name of names) {
    if (ACCEPTED_NAME.test(name)) continue;
    const plain = name.replace(/[^a-zA-Z0-9_.-]/gu, '_').slice(0, 64) || '_';
    let alias = plain;
    for (let salt = 0; taken.has(alias); salt++) {
      alias = `${plain.slice(0, 55)}_${shortHash(salt === 0 ? name : `${name}${salt}`)}`;
    }
    taken.add(alias);
    aliases.set(name, alias);
  }
  return aliases;
}

/** The root with those arguments renamed; the description of each names the original. */
function withAliases(root: Schema, aliases: ReadonlyMap<string, string>): Schema {
  if (aliases.size === 0) return root;
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
  // These keywords refer to arguments by the server's names, so that they do not fit the renamed arguments.
  if (byName.length === 0) return withChanges(root, changes);
  for (const key of [...byName, 'additionalProperties', 'unevaluatedProperties']) changes.set(key, undefined);
  return withNote(withChanges(root, changes), FURTHER_CONDITIONS);
}

/** What the model APIs refuse at the root. */
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** Whether the root of a schema of any draft stays as it is, apart from repairs. */
function isPlainRoot(schema: Schema): boolean {
  return schema.type === 'object' && [...REFUSED, 'nullable'].every((key) => !Object.hasOwn(schema, key));
}

/**
 * A schema of 2020-12 whose root is a plain object: the same one, or the shape of everything its root applies. Unless
 * `isPlainRoot`, references must lead to definitions only.
 */
function plainRoot(schema: Schema): Schema {
  if (!REFUSED.every((key) => !Object.hasOwn(schema, key))) return merged(schema);
  const { type } = schema;
  const root = Object.hasOwn(schema, 'properties')
    ? schema
    : withChanges(schema, new Map([['properties', {}]]));
  if (type === 'object') return root;
  if (type !== undefined && !(Array.isArray(type) && type.includes('object'))) return merged(schema);
  const { type: _, ...rest } = root;
  return { type: 'object', ...rest };
}

function merged(schema: Schema): Schema {
  const shape = shapeOf(schema, schema);
  if (shape === undefined) {
    return openRoot(
      schema,
      'The input schema of this tool contradicts itself (no arguments can match it) and is omitted; the server validates the arguments.',
    );
  }
  return withUsedDefinitions({ ...schemaOf(shape), $defs: schema.$defs });
}

/** The schema without definitions that nothing in it refers to. */
function withUsedDefinitions(schema: Schema): Schema {
  const { $defs, ...root } = schema;
  if (!isRecord($defs)) return root;
  const used = new Set<string>();
  const pending = [root];
  const visit = (it: Schema): Schema => {
    const [first, name] = typeof it.$ref === 'string' ? (readPointer(it.$ref.slice(1)) ?? []) : [];
    if (first === '$defs' && name !== undefined && !used.has(name)) {
      used.add(name);
      const definition = stepInto($defs, name);
      if (isRecord(definition)) pending.push(definition);
    }
    return mapSubschemas(it, visit);
  };
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) visit(at);
  if (used.size === 0) return root;
  return { ...root, $defs: Object.fromEntries(Object.entries($defs).filter(([name]) => used.has(name))) };
}

/** Facts about a JSON document, whether or not its parts are schemas. */
type Survey = {
  /** The approximate length of its JSON; counting stops at the limit. */
  size: number;
  isLarge: boolean;
  isDeep: boolean;
  hasNames: boolean;
  hasBareArrays: boolean;
  hasUnevaluatedItems: boolean;
};

/** Maximum nesting depth of a schema; real schemas have about 40 levels at most. */
const MAX_DEPTH = 256;

/** Looks through a document once, up to the depth limit and about `maxSize` characters. */
function survey(document: object, maxSize: number): Survey {
  const found = {
    size: 0,
    isLarge: false,
    isDeep: false,
    hasNames: false,
    hasBareArrays: false,
    hasUnevaluatedItems: false,
  };
  look(document, 0, found, maxSize);
  found.isLarge = found.size > maxSize;
  return found;
}

function look(value: unknown, depth: number, found: Survey, maxSize: number): void {
  if (typeof value === 'string') found.size += value.length + 3;
  else if (typeof value !== 'object' || value === null) found.size += 5;
  else if (depth >= MAX_DEPTH) found.isDeep = true;
  else if (found.size <= maxSize) {
    found.size += 3;
    if (Array.isArray(value)) for (const item of value) look(item, depth + 1, found, maxSize);
    else lookIntoObject(value, depth, found, maxSize);
  }
}

function lookIntoObject(value: object, depth: number, found: Survey, maxSize: number): void {
  for (const key of Object.keys(value)) {
    if (found.size > maxSize) return;
    const inner = (value as Record<string, unknown>)[key];
    found.size += key.length + 3;
    if (key === 'type' && isBareArray(value)) found.hasBareArrays = true;
    else if (key === 'unevaluatedItems') found.hasUnevaluatedItems = true;
    else if (typeof inner === 'string' && NAMES.has(key)) found.hasNames = true;
    look(inner, depth + 1, found, maxSize);
  }
}

const NAMES: ReadonlySet<string> = new Set(['$id', '$anchor', '$dynamicAnchor']);

/** Whether a schema is for arrays and has no schema for all their items. */
function isBareArray({ type, items }: { type?: unknown; items?: unknown }): boolean {
  if (type !== 'array' && !(Array.isArray(type) && type.includes('array'))) return false;
  return !isSchema(items);
}
