import { createHash } from 'node:crypto';
import { isEqualJson, isNestedDeeper, isRecord } from '../../base/json-value.ts';
import type { JsonSchema, ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';

/** The parts of a tool's definition that models and users rely on to choose or allow it; icons, for example, are not. */
export type Definition = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Only members that change how a host treats the tool. */
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** Prefix of the `_meta` members that hosts act on, such as `anthropic/alwaysLoad` and `anthropic/searchHint`. */
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

/** Parses a stored definition; undefined if it is malformed. */
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

/** Limits of a definition, far above any real one. */
const MAX_DEPTH = 100;
const MAX_LENGTH = 300_000;

/** The JSON of a definition; undefined if it is too deep or too large to be compared. */
export function boundedJson(value: object): string | undefined {
  if (isNestedDeeper(value, MAX_DEPTH)) return undefined;
  const text = JSON.stringify(value);
  return text.length > MAX_LENGTH ? undefined : text;
}

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
