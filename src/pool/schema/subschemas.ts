import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { KEYWORDS } from './keywords.ts';

export type Schema = { readonly [key: string]: unknown };

/** The record with some values replaced; `undefined` removes a key, and new keys are added last. */
export function withChanges(record: Schema, changes: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(record)) {
    const value = changes.has(key) ? changes.get(key) : record[key];
    if (value !== undefined) entries.push([key, value]);
  }
  for (const [key, value] of changes) {
    if (value !== undefined && !Object.hasOwn(record, key)) entries.push([key, value]);
  }
  // Unlike an assignment, this creates an ordinary property for `__proto__`.
  return Object.fromEntries(entries);
}

/** The record with each value mapped; the same object if no value changed. */
export function mapValues(record: Schema, map: (value: unknown, key: string) => unknown): Schema {
  let changes: Map<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const value = record[key];
    const next = map(value, key);
    if (next === value) continue;
    changes ??= new Map();
    changes.set(key, next);
  }
  return changes === undefined ? record : withChanges(record, changes);
}

/** The list with each item mapped; the same array if no item changed. */
export function mapItems(list: readonly unknown[], map: (item: unknown) => unknown): readonly unknown[] {
  let isChanged = false;
  const mapped = list.map((item) => {
    const next = map(item);
    if (next !== item) isChanged = true;
    return next;
  });
  return isChanged ? mapped : list;
}

/** A valid schema with each of its direct subschemas mapped; the same object if none changed. */
export function mapSubschemas(schema: Schema, map: (sub: Schema) => Schema): Schema {
  const one = (value: unknown): unknown => (isRecord(value) ? map(value) : value);
  return mapValues(schema, (value, key) => {
    const kind = KEYWORDS.get(key);
    if (kind === 'schema') return one(value);
    if (kind === 'schemas' && Array.isArray(value)) return mapItems(value, one);
    if (kind === 'map' && isRecord(value)) return mapValues(value, one);
    return value;
  });
}

/** The schema with a sentence added to its description. */
export function withNote(schema: Schema, note: string): Record<string, unknown> {
  const before = schema.description;
  const description = typeof before === 'string' && before.trim() !== '' ? `${before} ${note}` : note;
  return withChanges(schema, new Map([['description', description]]));
}

/** Note for constraints that cannot be described more exactly. */
export const FURTHER_CONDITIONS = 'Additional constraints apply; the server validates them.';

const MAX_NOTE_LENGTH = 500;

/** A note that quotes a dropped condition as JSON, if it is short. */
export function describeCondition(lead: string, condition: unknown): string {
  const json = JSON.stringify(condition);
  return json.length > MAX_NOTE_LENGTH || !isWritable(condition) ? FURTHER_CONDITIONS : `${lead} ${json}.`;
}

/** Whether a value can be written as JSON: `1e400` is parsed as infinity, which would be written as null. */
export function isWritable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isWritable);
}

/** Thrown when a schema exceeds a limit; `normalForm` catches it. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** A root that accepts any arguments, with the reason in its description after the original description. */
export function openRoot(schema: unknown, why: string): Record<string, unknown> {
  const text = isRecord(schema) ? schema.description : undefined;
  const root = {
    type: 'object',
    ...(typeof text === 'string' && { description: truncate(text, MAX_DESCRIPTION_LENGTH) }),
    properties: {},
  };
  return withNote(root, why);
}

/** Note for a schema that is too large to be sent to a model. */
export const TOO_LARGE = 'The input schema is too large to be included; the server validates the arguments.';

/** Note for a schema that is too deep for recursive code. */
export const TOO_DEEP =
  'The input schema is nested too deeply to be included; the server validates the arguments.';

const MAX_DESCRIPTION_LENGTH = 4000;
