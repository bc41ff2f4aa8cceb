import { createRequire } from 'node:module';
import type * as Zod from 'zod';
import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import type { Checked, CompiledSchema, RawShape } from './standard-schema.ts';

/** A plain object whose every value is a zod schema, version 3 or 4; `{}` is a shape without fields. */
export function isZodShape(value: unknown): value is RawShape {
  if (!isRecord(value)) return false;
  return Object.values(value).every((field) => isRecord(field) && ('_zod' in field || '_def' in field));
}

export function compileZodShape(shape: RawShape, direction: 'input' | 'output'): CompiledSchema {
  const fields = Object.values(shape) as object[];
  if (fields.every((field) => '_zod' in field))
    return compileZod(objectOf(shape as Zod.ZodRawShape), direction);
  if (fields.some((field) => '_zod' in field)) throw new Error('the shape mixes zod 3 and zod 4 schemas');
  return compileV3(shape);
}

export function isZodSchema(value: unknown): value is Zod.core.$ZodType {
  return isRecord(value) && '_zod' in value;
}

/** Validates asynchronously unless the schema is surely synchronous: a synchronous attempt would leave a rejected promise of an async refinement unhandled. */
export function compileZod(schema: Zod.core.$ZodType, io: 'input' | 'output'): CompiledSchema {
  const z = loadZod();
  return {
    json: z.toJSONSchema(schema, { target: 'draft-7', io, metadata: metadataOf(z) }) as JsonSchema,
    check: isSurelySync(schema)
      ? (value) => toChecked(z.safeParse(schema, value))
      : (value) => z.safeParseAsync(schema, value).then(toChecked),
  };
}

/** Descriptions and other metadata. Copies of zod before 4.1 have a registry of their own, which `meta()` reads. */
function metadataOf({ globalRegistry }: ReturnType<typeof loadZod>): typeof globalRegistry {
  const get = (schema: Zod.core.$ZodType) =>
    globalRegistry.get(schema) ?? (schema as { meta?: () => Zod.core.GlobalMeta | undefined }).meta?.();
  return { get } as unknown as typeof globalRegistry;
}

type Parsed = { success: true; data: unknown } | { success: false; error: { message: string } };

function toChecked(parsed: Parsed): Checked {
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, message: parsed.error.message };
}

function objectOf(shape: Zod.core.$ZodShape): Zod.core.$ZodType {
  const { $ZodObjectJIT } = loadZod();
  return new $ZodObjectJIT({ type: 'object', shape });
}

/** Schemas of zod 4 are interchangeable between copies of zod, which share their configuration and registry. */
function loadZod(): typeof import('./zod-core.ts') {
  if (zod) return zod;
  const loaded: typeof import('./zod-core.ts') = createRequire(import.meta.url)('./zod-core.ts');
  // The texts of error messages are set by the main module of zod, which may be absent or another copy.
  if (!loaded.config().localeError) loaded.config(loaded.en());
  zod = loaded;
  return loaded;
}

let zod: typeof import('./zod-core.ts') | undefined;

/** A field of zod 3. `path` becomes the beginning of the paths of its issues. */
type FieldV3 = { safeParseAsync(value: unknown, options: { path: string[] }): Promise<ParsedV3> };
type ParsedV3 = { success: true; data: unknown } | { success: false; error: { issues: object[] } };

/** Compiles a zod 3 shape as `z.object()` of zod 3 does, with the fields alone: no zod 3 is loaded. */
function compileV3(shape: RawShape): CompiledSchema {
  const { zodToJsonSchema }: typeof import('zod-to-json-schema') = createRequire(import.meta.url)(
    'zod-to-json-schema',
  );
  const toJson = zodToJsonSchema as (schema: unknown, options: object) => JsonSchema;
  const catchall = { _def: { typeName: 'ZodNever' } };
  const object = { _def: { typeName: 'ZodObject', shape: () => shape, unknownKeys: 'strip', catchall } };
  const fields = Object.entries(shape as unknown as Record<string, FieldV3>);
  return {
    json: toJson(object, { strictUnions: true, pipeStrategy: 'input' }),
    check: (value) => checkV3(fields, value),
  };
}

async function checkV3(fields: readonly (readonly [string, FieldV3])[], value: unknown): Promise<Checked> {
  if (!isRecord(value)) return { ok: false, message: 'Expected object' };
  const parsed = await Promise.all(
    fields.map(([name, field]) => field.safeParseAsync(value[name], { path: [name] })),
  );
  const issues = parsed.flatMap((it) => (it.success ? [] : it.error.issues));
  if (issues.length > 0) return { ok: false, message: JSON.stringify(issues, bigintAsText, 2) };
  const entries = fields.map(([name], at) => [name, (parsed[at] as { data: unknown }).data] as const);
  return {
    ok: true,
    value: Object.fromEntries(entries.filter(([name, data]) => data !== undefined || name in value)),
  };
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** Where each kind of schema keeps the schemas inside it; kinds that are not listed may run custom code. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  any: [],
  array: ['element'],
  bigint: [],
  boolean: [],
  date: [],
  default: ['innerType'],
  enum: [],
  literal: [],
  never: [],
  null: [],
  nullable: ['innerType'],
  number: [],
  object: ['shape', 'catchall'],
  optional: ['innerType'],
  readonly: ['innerType'],
  record: ['keyType', 'valueType'],
  string: [],
  tuple: ['items', 'rest'],
  undefined: [],
  union: ['options'],
  unknown: [],
};

/**
 * Whether a zod 4 schema is made of zod's own parts only, none of which can be asynchronous. A refinement, a transform or
 * anything unknown makes it false: only an asynchronous check would see such a part reject.
 */
export function isSurelySync(schema: unknown, seen: Set<unknown> = new Set()): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  const def = definitionOf(schema);
  if (!def || typeof def.type !== 'string' || !Object.hasOwn(INNER, def.type)) return false;
  if (!listOf(def.checks).every(isBuiltIn)) return false;
  const inner = (INNER[def.type] ?? []).flatMap((member) => schemasIn(def[member]));
  return inner.every((it) => isSurelySync(it, seen));
}

/** Formats, lengths and ranges; false for a custom function. */
function isBuiltIn(check: unknown): boolean {
  const name = definitionOf(check)?.check;
  return typeof name === 'string' && name !== 'custom';
}

function definitionOf(value: unknown): Record<string, unknown> | undefined {
  if (!isRecord(value) || !isRecord(value._zod)) return undefined;
  return isRecord(value._zod.def) ? value._zod.def : undefined;
}

function schemasIn(member: unknown): unknown[] {
  if (member === undefined || member === null) return [];
  if (Array.isArray(member)) return member;
  return isRecord(member) && !('_zod' in member) ? Object.values(member) : [member];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
