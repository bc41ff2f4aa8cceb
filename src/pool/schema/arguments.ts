import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { normalForm } from './normal-form.ts';

/**
 * The arguments under the names the server declared, from those a model gave under the names of `modelSchema(schema)`.
 * Only names at the top change, only those that had to be replaced; the same object if none is there.
 */
export function argumentsFor(schema: JsonSchema, args: Record<string, unknown>): Record<string, unknown> {
  const names = namesOf(schema);
  if (names.size === 0) return args;
  const given = Object.keys(args);
  if (!given.some((name) => names.has(name))) return args;
  const renamed = given.filter((name) => names.has(name));
  // The name that was offered wins over the server's own, should a model send both.
  const meant = new Set(renamed.map((alias) => names.get(alias)));
  const entries = given
    .filter((name) => names.has(name) || !meant.has(name))
    .map((name): [string, unknown] => [names.get(name) ?? name, args[name]]);
  return Object.fromEntries(entries);
}

const NONE: ReadonlyMap<string, string> = new Map();
/** A tool is called more often than it is defined. */
const known = new WeakMap<JsonSchema, ReadonlyMap<string, string>>();

/** The declared names by those a model was told, where they differ. */
function namesOf(schema: JsonSchema): ReadonlyMap<string, string> {
  if (!isRecord(schema)) return NONE;
  let names = known.get(schema);
  if (!names) {
    names = new Map(Array.from(aliasesOf(schema), ([name, alias]) => [alias, name]));
    known.set(schema, names);
  }
  return names;
}

function aliasesOf(schema: JsonSchema): ReadonlyMap<string, string> {
  try {
    return normalForm(schema).aliases;
  } catch {
    // A model was told nothing of what cannot be read.
    return NONE;
  }
}
