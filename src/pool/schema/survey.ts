import { isSchema } from './references.ts';

/** Facts about a JSON document, whether or not its parts are schemas. */
export type Survey = {
  /** The approximate length of its JSON; counting stops at the limit. */
  size: number;
  isLarge: boolean;
  isDeep: boolean;
  hasNames: boolean;
  hasBareArrays: boolean;
  hasUnevaluatedItems: boolean;
};

/** Real schemas have about 40 levels at most. */
const MAX_DEPTH = 256;

/** Looks through a document once, up to the depth limit and about `maxSize` characters. */
export function survey(document: object, maxSize: number): Survey {
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
export function isBareArray({ type, items }: { type?: unknown; items?: unknown }): boolean {
  if (type !== 'array' && !(Array.isArray(type) && type.includes('array'))) return false;
  return !isSchema(items);
}
