import { isRecord } from '../base/is-record.ts';

/** Where each kind of schema keeps the schemas inside it; kinds that are not here may run code of their author's. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  any: [],
  array: ['element'],
  bigint: [],
  boolean: [],
  date: [],
  default: ['innerType'],
  enum: [],
  literal: [],
  never: [],
  null: [],
  nullable: ['innerType'],
  number: [],
  object: ['shape', 'catchall'],
  optional: ['innerType'],
  readonly: ['innerType'],
  record: ['keyType', 'valueType'],
  string: [],
  tuple: ['items', 'rest'],
  undefined: [],
  union: ['options'],
  unknown: [],
};

/**
 * Whether a zod 4 schema is made of zod's own parts only, none of which can be asynchronous. A refinement, a transform or
 * anything unknown makes it false: only an asynchronous check would see such a part reject.
 */
export function isSurelySync(schema: unknown, seen: Set<unknown> = new Set()): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  const def = definitionOf(schema);
  if (!def || typeof def.type !== 'string' || !Object.hasOwn(INNER, def.type)) return false;
  if (!listOf(def.checks).every(isBuiltIn)) return false;
  const inner = (INNER[def.type] ?? []).flatMap((member) => schemasIn(def[member]));
  return inner.every((it) => isSurelySync(it, seen));
}

/** Formats, lengths, ranges: everything but a function somebody passed. */
function isBuiltIn(check: unknown): boolean {
  const name = definitionOf(check)?.check;
  return typeof name === 'string' && name !== 'custom';
}

function definitionOf(value: unknown): Record<string, unknown> | undefined {
  if (!isRecord(value) || !isRecord(value._zod)) return undefined;
  return isRecord(value._zod.def) ? value._zod.def : undefined;
}

function schemasIn(member: unknown): unknown[] {
  if (member === undefined || member === null) return [];
  if (Array.isArray(member)) return member;
  return isRecord(member) && !('_zod' in member) ? Object.values(member) : [member];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
