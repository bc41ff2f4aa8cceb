import { type Schema, withChanges, withNote } from './subschemas.ts';

/** A number that JSON has no form for: text like `1e400` is read as infinity and would be written as null. */
export function isOddNumber(value: unknown): boolean {
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

/** What goes if it holds such a number, and what is said then. */
const DROPPED: readonly (readonly [string, string])[] = [
  ['enum', VALUES],
  ['const', VALUES],
  ['default', 'Its default holds a number too large to be shown.'],
];
