import { isRecord } from '../../base/json-value.ts';

/** An argument that is also sent as a header. */
export type HeaderParam = { readonly path: readonly string[]; readonly header: string };

/** The arguments that a schema marks with `x-mcp-header`, or why a mark is invalid. */
export function readHeaderParams(schema: unknown): readonly HeaderParam[] | { readonly fault: string } {
  const found: HeaderParam[] = [];
  const names = new Set<string>();
  const detail = visited(schema, (param) => {
    const name = param.header.toLowerCase();
    if (names.has(name)) return `"${MARK}" names "${param.header}" twice`;
    names.add(name);
    found.push(param);
    return undefined;
  });
  return detail === undefined ? found : { fault: detail };
}

/** Visits all marks of a schema. A schema that is nested too deeply to be visited is invalid. */
function visited(schema: unknown, note: (param: HeaderParam) => string | undefined): string | undefined {
  try {
    return visit(schema, [], 'reachable', note);
  } catch {
    return 'its schema is nested too deeply';
  }
}

/** The headers of one call; absent arguments and non-primitive values have none. */
export function paramHeaders(
  params: readonly HeaderParam[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of params) {
    const text = textOf(path.reduce<unknown>((it, key) => (isRecord(it) ? it[key] : undefined), args));
    if (text !== undefined) headers[`Mcp-Param-${header}`] = encode(text);
  }
  return headers;
}

const MARK = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

function visit(
  node: unknown,
  path: readonly string[],
  place: 'reachable' | 'hidden',
  note: (param: HeaderParam) => string | undefined,
): string | undefined {
  if (Array.isArray(node)) return first(node, (item) => visit(item, path, 'hidden', note));
  if (!isRecord(node)) return undefined;
  if (MARK in node) {
    const detail = markFault(node, path, place) ?? note({ path, header: node[MARK] as string });
    if (detail !== undefined) return detail;
  }
  return first(Object.entries(node), ([key, value]) => {
    if (DATA.has(key)) return undefined;
    if (!MAPS.has(key)) return visit(value, path, 'hidden', note);
    if (!isRecord(value)) return undefined;
    const next = key === 'properties' ? place : 'hidden';
    return first(Object.entries(value), ([name, child]) => visit(child, [...path, name], next, note));
  });
}

/** Members whose values are data, not schemas, so that marks inside them do not count. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required', MARK]);
/** Members that map names to schemas, so that a key equal to the mark is a name. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

function markFault(
  node: Record<string, unknown>,
  path: readonly string[],
  place: 'reachable' | 'hidden',
): string | undefined {
  const name = node[MARK];
  const where = path.length === 0 ? 'the schema itself' : `"${path.join('.')}"`;
  if (place === 'hidden' || path.length === 0)
    return `"${MARK}" is not supported on ${where}; set it only on members of "properties"`;
  if (typeof name !== 'string' || !TOKEN.test(name))
    return `"${MARK}" of ${where} is not a valid header name`;
  if (!PLAIN.has(node.type))
    return `"${MARK}" is not supported on ${where}, because its type is not string, integer or boolean`;
  return undefined;
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

/** Base64 for text that a header cannot contain, and for text that looks like such base64. */
function encode(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
