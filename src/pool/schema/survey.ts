import { isSchema } from './references.ts';
import { type Schema, withChanges, withNote } from './subschemas.ts';

/** What is in a document anywhere, whether a schema stands there or not; too much is no harm. */
export type Survey = {
  /** About as many characters as its JSON has; if it is too large, those up to there. */
  size: number;
  isLarge: boolean;
  isDeep: boolean;
  hasNames: boolean;
  hasBareArrays: boolean;
  hasUnevaluatedItems: boolean;
  /** The objects and lists that hold, at any depth, a number that JSON has no form for. */
  odd: Set<unknown>;
};

/** JSON this deep is no description of a tool; real ones have about 40 levels at most. */
const MAX_DEPTH = 256;

/** Looks through a document once, never deeper than the limit and hardly further than `largest`. */
export function survey(document: object, largest: number): Survey {
  const found = {
    size: 0,
    isLarge: false,
    isDeep: false,
    hasNames: false,
    hasBareArrays: false,
    hasUnevaluatedItems: false,
    odd: new Set<unknown>(),
  };
  look(document, 0, found, largest);
  found.isLarge = found.size > largest;
  return found;
}

function look(value: object, depth: number, found: Survey, largest: number): void {
  if (depth >= MAX_DEPTH) {
    found.isDeep = true;
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) {
      if (found.size > largest) return;
      if (lookAt(item, depth, found, largest)) found.odd.add(value);
    }
    return;
  }
  for (const key of Object.keys(value)) {
    if (found.size > largest) return;
    const inner = (value as Record<string, unknown>)[key];
    found.size += key.length + 3;
    if (key === 'type' && isBareArray(value)) found.hasBareArrays = true;
    else if (key === 'unevaluatedItems') found.hasUnevaluatedItems = true;
    if (typeof inner === 'string' && NAMES.has(key)) found.hasNames = true;
    if (lookAt(inner, depth, found, largest)) found.odd.add(value);
  }
}

/** Whether the value is or holds an odd number. */
function lookAt(value: unknown, depth: number, found: Survey, largest: number): boolean {
  if (typeof value === 'string') found.size += value.length + 3;
  else if (typeof value === 'object' && value !== null) {
    found.size += 3;
    look(value, depth + 1, found, largest);
    return found.odd.size > 0 && found.odd.has(value);
  } else found.size += 5;
  return isOddNumber(value);
}

/** An array schema without a schema for all its items. */
export function isBareArray({ type, items }: { type?: unknown; items?: unknown }): boolean {
  if (type !== 'array' && !(Array.isArray(type) && type.includes('array'))) return false;
  return !isSchema(items);
}

const NAMES: ReadonlySet<string> = new Set(['$id', 'id', '$anchor', '$dynamicAnchor']);

/** A number that JSON has no form for: text like `1e400` is read as infinity and would be written as null. */
function isOddNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

/**
 * One schema without values that JSON has no form for; `holders` are the objects that hold some, `widen` is called if it
 * accepts more by that.
 */
export function withoutOddNumbers(schema: Schema, holders: ReadonlySet<unknown>, widen: () => void): Schema {
  if (!holders.has(schema)) return schema;
  const isOdd = (value: unknown) => isOddNumber(value) || holders.has(value);
  const changes = new Map<string, unknown>();
  const notes = new Set<string>();
  for (const [key, note] of DROPPED) {
    if (!isOdd(schema[key])) continue;
    changes.set(key, undefined);
    notes.add(note);
    if (key !== 'default') widen();
  }
  const { examples } = schema;
  if (isOdd(examples)) {
    changes.set('examples', Array.isArray(examples) ? examples.filter((it) => !isOdd(it)) : undefined);
  }
  if (changes.size === 0) return schema;
  const settled = withChanges(schema, changes);
  return notes.size === 0 ? settled : withNote(settled, [...notes].join(' '));
}

const VALUES =
  'Only some values are right, of which one holds a number too large to be shown; the server checks them.';

/** Keywords that are dropped if they hold such a number, and the note that replaces them. */
const DROPPED: readonly (readonly [string, string])[] = [
  ['enum', VALUES],
  ['const', VALUES],
  ['default', 'Its default holds a number too large to be shown.'],
];
