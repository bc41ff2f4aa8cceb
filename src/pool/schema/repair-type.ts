import { TYPES } from './keywords.ts';

/**
 * The value of `type` as it may stand, the same where it is right. A name nobody knows makes it say nothing,
 * since the server may take more than the other names; `nullable` is OpenAPI's way to say null.
 */
export function repairType(type: unknown, nullable: unknown): { type?: unknown; note?: string } {
  if (nullable !== true && typeof type === 'string' && TYPES.has(type)) return { type };
  if (typeof type !== 'string' && !Array.isArray(type)) return {};
  const names: unknown[] = Array.isArray(type) ? type : [type];
  const unknown = names.filter((name) => !TYPES.has(name));
  if (unknown.length > 0) {
    const words = unknown.filter((name) => typeof name === 'string' && name !== 'any' && name !== '');
    return words.length === 0 ? {} : { note: `Type: ${words.join(' or ')}.` };
  }
  if (names.length === 0) return {};
  const once = new Set(names);
  if (nullable === true) once.add('null');
  if (once.size === names.length) return { type };
  return { type: [...once] };
}
