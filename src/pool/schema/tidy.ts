import { isRecord } from '../../base/json-value.ts';
import type { KeywordKind } from './keywords.ts';

/** The value of a keyword that holds no schemas: as it is if it has the right form, else mended or nothing. */
export function tidy(kind: Exclude<KeywordKind, 'schema' | 'schemas' | 'map'>, value: unknown): unknown {
  switch (kind) {
    case 'count':
      return Number.isInteger(value) && (value as number) >= 0 ? value : undefined;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    case 'step':
      return Number.isFinite(value) && (value as number) > 0 ? value : undefined;
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'text':
      return typeof value === 'string' ? value : value === null ? undefined : JSON.stringify(value);
    case 'names':
      return Array.isArray(value) ? names(value) : undefined;
    case 'name-lists':
      return isRecord(value) ? nameLists(value) : undefined;
    case 'values':
      return Array.isArray(value) && value.length > 0 ? value : undefined;
    case 'examples':
      return Array.isArray(value) ? value : [value];
    case 'drop':
      return undefined;
  }
}

function names(list: readonly unknown[]): readonly unknown[] {
  const unique = new Set(list);
  if (unique.size === list.length && list.every((name) => typeof name === 'string')) return list;
  return [...unique].filter((name) => typeof name === 'string');
}

function nameLists(lists: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(lists).filter(([, list]) => Array.isArray(list)) as [string, unknown[]][];
  const tidied = entries.map(([name, list]): [string, unknown] => [name, names(list)]);
  const isSameSchema =
    tidied.length === Object.keys(lists).length && tidied.every(([name, it]) => it === lists[name]);
  return isSameSchema ? lists : Object.fromEntries(tidied);
}
