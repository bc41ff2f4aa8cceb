import { createHash } from 'node:crypto';
import { isEqualJson, isNestedDeeper, isRecord } from '../../base/json-value.ts';
import type { JsonSchema, ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';

/** What a model or a person relies on when they choose a tool or let it run; icons and the like are left out. */
export type Definition = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Only what changes how a host treats the tool. */
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** Members of `_meta` that hosts act on begin so: whether a person must be there, what is always loaded, hints for search. */
const BEHAVIOR_PREFIX = 'anthropic/';

export function definitionOf(tool: ListedTool | Definition): Definition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const meta = Object.entries(tool._meta ?? {}).filter(([key]) => key.startsWith(BEHAVIOR_PREFIX));
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
    ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }),
  };
}

/** What was written down before, if it is a definition. */
export function parseDefinition(value: unknown): Definition | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || !isRecord(value.inputSchema)) return undefined;
  const isText = (it: unknown) => it === undefined || typeof it === 'string';
  const isObject = (it: unknown) => it === undefined || isRecord(it);
  const { title, description, outputSchema, annotations, _meta } = value;
  if (![title, description].every(isText) || ![outputSchema, annotations, _meta].every(isObject)) {
    return undefined;
  }
  return definitionOf(value as ListedTool);
}

/** JSON text that is the same for values that mean the same: members sorted, and lists whose order means nothing. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(canonicalValue(value)) ?? 'null';
}

/** JSON Schema takes these as sets; some servers list them in another order at every start. */
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

/** A member called `__proto__` is one like any other. */
function setMember(made: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') made[name] = value;
  else Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether both have the same canonical text, found out without writing either where they are alike. */
export function isEquivalent(one: unknown, other: unknown): boolean {
  return isEqualJson(one, other) || canonicalJson(one) === canonicalJson(other);
}

/** SHA-256 over what is relied on of a tool; in which order members were sent makes no difference. */
export function fingerprint(tool: ListedTool | Definition): string {
  return hashOf(canonicalJson(definitionOf(tool)));
}

/** The same, of a definition's canonical text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Limits of a definition, far above any real one. */
const MAX_DEPTH = 100;
const MAX_LENGTH = 300_000;

/** The JSON of a definition; undefined for one that is too deep or too large to be compared. */
export function boundedJson(value: object): string | undefined {
  if (isNestedDeeper(value, MAX_DEPTH)) return undefined;
  const text = JSON.stringify(value);
  return text.length > MAX_LENGTH ? undefined : text;
}
