import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../base/is-record.ts';

/**
 * Whether a text says nothing that `structuredContent` does not say: it is the same as JSON, or, where a server has
 * wrapped a value as `{ "result": value }`, it is that value or one of its items.
 */
export function repeats(text: string, structure: unknown): boolean {
  const values = [structure, ...wrapped(structure)];
  if (values.some((value) => value === text)) return true;
  const parsed = parse(text);
  return parsed !== undefined && values.some((value) => isSame(value, parsed.value));
}

function wrapped(structure: unknown): unknown[] {
  if (!isRecord(structure) || !('result' in structure) || Object.keys(structure).length !== 1) return [];
  const { result } = structure;
  return Array.isArray(result) ? [result, ...result] : [result];
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** What is nested too deeply to be compared is taken for different. */
function isSame(a: unknown, b: unknown): boolean {
  try {
    return isDeepStrictEqual(a, b);
  } catch {
    return false;
  }
}
