import { createHash } from 'node:crypto';
import { isEqualJson, isRecord } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { type Definition, definitionOf } from './definition.ts';

/** Whether two values have the same canonical text. */
export function isEquivalent(one: unknown, other: unknown): boolean {
  return isEqualJson(one, other) || canonicalJson(one) === canonicalJson(other);
}

/** SHA-256 of a tool's definition; the order of members makes no difference. */
export function fingerprint(tool: ListedTool | Definition): string {
  return hashOf(canonicalJson(definitionOf(tool)));
}

/** SHA-256 of a definition's canonical text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** JSON text that is the same for equivalent values: members are sorted, and lists whose order has no meaning. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(canonicalValue(value)) ?? 'null';
}

/** JSON Schema treats these lists as sets; some servers list them in another order at every start. */
const SETS: ReadonlySet<string> = new Set(['required', 'enum', 'type']);

/** The value whose plain JSON text is canonical. */
export function canonicalValue(value: unknown, key?: string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonicalValue(item));
    return key !== undefined && SETS.has(key) && items.every((item) => typeof item === 'string')
      ? items.toSorted()
      : items;
  }
  if (!isRecord(value)) return value;
  const made: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) setMember(made, name, canonicalValue(member, name));
  }
  return made;
}

/** Assigning `__proto__` would set the prototype instead of a member. */
function setMember(made: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') made[name] = value;
  else Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
}
