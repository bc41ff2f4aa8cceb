import { isSchema } from './pointer.ts';

/** What is in a document anywhere, whether a schema stands there or not; too much is no harm. */
export type Survey = {
  isDeep: boolean;
  hasNames: boolean;
  hasBareArrays: boolean;
  hasUnevaluatedItems: boolean;
};

/** JSON this deep is no description of a tool; real ones have about 40 levels at most. */
export const DEEPEST = 256;

/** Looks through a document once, never deeper than the limit. */
export function survey(document: object): Survey {
  const found = { isDeep: false, hasNames: false, hasBareArrays: false, hasUnevaluatedItems: false };
  look(document, 0, found);
  return found;
}

function look(value: object, depth: number, found: Survey): void {
  if (depth >= DEEPEST) {
    found.isDeep = true;
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) look(item, depth + 1, found);
    return;
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (key === 'type' && isBareArray(value)) found.hasBareArrays = true;
    else if (key === 'unevaluatedItems') found.hasUnevaluatedItems = true;
    if (typeof inner === 'object' && inner !== null) look(inner, depth + 1, found);
    else if (typeof inner === 'string' && NAMES.has(key)) found.hasNames = true;
  }
}

/** An array of which nothing is said that holds for all its items. */
export function isBareArray({ type, items }: { type?: unknown; items?: unknown }): boolean {
  if (type !== 'array' && !(Array.isArray(type) && type.includes('array'))) return false;
  return !isSchema(items);
}

const NAMES: ReadonlySet<string> = new Set(['$id', 'id', '$anchor', '$dynamicAnchor']);
