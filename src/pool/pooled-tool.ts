import { isRecord } from '../base/json-value.ts';
import type { JsonSchema, ListedTool } from '../protocol/mcp.ts';
import { isPlainJson, stripHidden } from './pinning/hidden-text.ts';
import type { Origin, PooledTool } from './pool.ts';
import { openRoot, TOO_LARGE } from './schema/keywords.ts';
import { modelSchema } from './schema/model-schema.ts';

/** Options that change how a tool is presented to a model. */
export type ToolMarks = { readonly marks: boolean; readonly alwaysLoad: boolean };

/** A tool under its pool name. */
export function pooled(name: string, origin: Origin, listed: ListedTool, options: ToolMarks): PooledTool {
  const searchHint = listed._meta?.['anthropic/searchHint'];
  const tool = {
    name,
    origin,
    listed,
    alwaysLoad: options.alwaysLoad || listed._meta?.['anthropic/alwaysLoad'] === true,
    ...(typeof searchHint === 'string' && { searchHint }),
  };
  // Computed on first use, because a model receives only a few of thousands of tools.
  Object.defineProperty(tool, 'description', options.marks ? MARKED_DESCRIPTION : DESCRIPTION);
  return Object.defineProperty(tool, 'inputSchema', INPUT_SCHEMA) as PooledTool;
}

type Lazy = PropertyDescriptor & ThisType<PooledTool>;

const DESCRIPTION: Lazy = {
  enumerable: true,
  get() {
    return descriptionOf(this.listed);
  },
};

const MARKED_DESCRIPTION: Lazy = {
  enumerable: true,
  get() {
    const { annotations } = this.listed;
    const marks = [
      descriptionOf(this.listed),
      annotations?.readOnlyHint === true ? '(readOnly)' : '',
      annotations?.destructiveHint === true ? '(destructive)' : '',
    ];
    return marks.filter((part) => part !== '').join(' ');
  },
};

const INPUT_SCHEMA: Lazy = {
  enumerable: true,
  get() {
    return schemaOf(this.listed);
  },
};

// Cached by definition, for all pools that contain it.
const descriptions = new WeakMap<ListedTool, string>();
const schemas = new WeakMap<ListedTool, JsonSchema>();

/** Hidden characters are not sent to models. */
function descriptionOf(listed: ListedTool): string {
  let description = descriptions.get(listed);
  if (description === undefined) {
    description = stripHidden(listed.description ?? '');
    descriptions.set(listed, description);
  }
  return description;
}

function schemaOf(listed: ListedTool): JsonSchema {
  let schema = schemas.get(listed);
  if (schema === undefined) {
    schema = formOf(listed.inputSchema);
    schemas.set(listed, schema);
  }
  return schema;
}

/** A schema that cannot be normalized accepts any arguments; other tools are unaffected. */
function formOf(schema: JsonSchema): JsonSchema {
  try {
    return visibleSchema(modelSchema(schema));
  } catch {
    return openRoot(undefined, TOO_LARGE);
  }
}

/**
 * The schema without hidden characters in titles and descriptions; names and values that a call must match are unchanged.
 * The same object if there are none.
 */
export function visibleSchema(schema: JsonSchema): JsonSchema {
  if (isPlainJson(JSON.stringify(schema))) return schema;
  // Cached, because schemas repeat the same texts.
  const known = new Map<string, string>();
  const clean = (text: string): string => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const cleaned = stripHidden(text);
    known.set(text, cleaned);
    return cleaned;
  };
  return cleaned(schema, 'keywords', clean) as JsonSchema;
}

/** `keys` is the kind of an object's keys: a property may have the name of any keyword. */
function cleaned(value: unknown, keys: 'keywords' | 'names', clean: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((it) => cleaned(it, 'keywords', clean));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, it]): [string, unknown] => {
    if (keys === 'names') return [key, cleaned(it, 'keywords', clean)];
    if (VALUES.has(key)) return [key, it];
    if (TEXTS.has(key) && typeof it === 'string') return [key, clean(it)];
    return [key, cleaned(it, NAMED.has(key) ? 'names' : 'keywords', clean)];
  });
  return Object.fromEntries(members);
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);
