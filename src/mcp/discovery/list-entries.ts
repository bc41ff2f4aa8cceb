import { isRecord } from '../../base/json-value.ts';
import type { ContentAnnotations, Icon, JsonSchema, ListedTool } from '../../protocol/mcp.ts';
import {
  dropInvalidMembers,
  jsonError,
  type MemberRules,
  parseNamed,
  type ReadEntry,
  RULES,
  type SizeBudget,
} from './read-list.ts';

/**
 * Parses one entry of `tools/list`. Invalid optional members are removed, since the tool works without them; a tool
 * whose arguments are not an object cannot be called and is not offered.
 */
export function parseTool(listed: unknown, room?: SizeBudget): ReadEntry<ListedTool> {
  const named = parseNamed(listed, room);
  if ('fault' in named) return named;
  const { value, name } = named;
  const schema = readSchema(value.inputSchema);
  if ('fault' in schema) return { name, fault: schema.fault };
  const cleaned = dropInvalidMembers(value, OPTIONAL_TOOL_FIELDS);
  const hints = isRecord(cleaned.value.annotations)
    ? dropInvalidMembers(cleaned.value.annotations, HINTS, 'annotations.')
    : undefined;
  const changed = {
    ...(schema.schema !== value.inputSchema && { inputSchema: schema.schema }),
    ...(hints && hints.value !== value.annotations && { annotations: hints.value }),
  };
  const item = Object.keys(changed).length === 0 ? cleaned.value : { ...cleaned.value, ...changed };
  return {
    item: item as ListedTool,
    name,
    repairs: [...schema.repairs, ...cleaned.repairs, ...(hints?.repairs ?? [])],
  };
}

const OPTIONAL_TOOL_FIELDS: MemberRules = {
  description: RULES.text,
  title: RULES.text,
  annotations: RULES.object,
  outputSchema: RULES.object,
  icons: RULES.icons,
  execution: RULES.object,
  _meta: RULES.object,
};

/** Hints of trusted servers affect permissions, so only valid ones are kept. */
const HINTS: MemberRules = {
  title: RULES.text,
  readOnlyHint: RULES.flag,
  destructiveHint: RULES.flag,
  idempotentHint: RULES.flag,
  openWorldHint: RULES.flag,
};

type ReadSchema =
  | { readonly schema: JsonSchema; readonly repairs: readonly string[] }
  | { readonly fault: string };

function readSchema(given: unknown): ReadSchema {
  if (isNothing(given)) {
    return { schema: { type: 'object' }, repairs: ['"inputSchema" is missing; any arguments are accepted'] };
  }
  if (!isRecord(given)) return { fault: '"inputSchema" must be an object' };
  const { type } = given;
  const typed = typedSchema(given, type);
  if (!typed) return { fault: '"inputSchema" must have type "object"' };
  const cleaned = dropInvalidMembers(typed, SCHEMA_MEMBERS, 'inputSchema.');
  const isNoted = type !== 'object';
  return {
    schema: cleaned.value,
    repairs: [
      ...(isNoted ? ['"inputSchema" does not have type "object"; type "object" is assumed'] : []),
      ...cleaned.repairs,
    ],
  };
}

/** Whether a schema allows any arguments. An empty list counts, since some languages write an empty map as one. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === true || isEmptyList(value);
}

/** Arguments are always an object, so a schema without a type, or with several, is narrowed to `object`. */
function typedSchema(schema: Record<string, unknown>, type: unknown): Record<string, unknown> | undefined {
  if (type === 'object') return schema;
  const isOpen = type === undefined || type === null || (Array.isArray(type) && type.includes('object'));
  return isOpen ? { ...schema, type: 'object' } : undefined;
}

/** Schema members that are validated; the rest is passed on unchanged. */
const SCHEMA_MEMBERS: MemberRules = {
  properties: RULES.object,
  required: [
    (value) => Array.isArray(value) && value.every((it) => typeof it === 'string'),
    'a list of strings',
  ],
};

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** A prompt of a server, which users run as a slash command; unknown members are kept. */
export type Prompt = {
  readonly name: string;
  readonly title?: string;
  /** Empty if the server sent none. */
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

type PromptArgument = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
};

/** Parses one entry of `prompts/list`; invalid optional members are removed. */
export function parsePrompt(listed: unknown, room?: SizeBudget): ReadEntry<Prompt> {
  const named = parseNamed(listed, room);
  if ('fault' in named) return named;
  const { value, name } = named;
  const cleaned = dropInvalidMembers(value, OPTIONAL_PROMPT_FIELDS);
  const given: unknown = cleaned.value.arguments;
  const read = (Array.isArray(given) ? given : []).map(readArgument);
  const { description = '' } = cleaned.value;
  const item = { ...cleaned.value, name, description, arguments: read.flatMap(({ argument }) => argument) };
  return {
    item: item as Prompt,
    name,
    repairs: [...cleaned.repairs, ...read.flatMap(({ repairs }) => repairs)],
  };
}

const OPTIONAL_PROMPT_FIELDS: MemberRules = {
  title: RULES.text,
  description: RULES.text,
  arguments: [Array.isArray, 'a list'],
  icons: RULES.icons,
  _meta: RULES.object,
};

const OPTIONAL_OF_ARGUMENT: MemberRules = {
  title: RULES.text,
  description: RULES.text,
  required: RULES.flag,
};

function readArgument(
  value: unknown,
  at: number,
): { argument: readonly PromptArgument[]; repairs: readonly string[] } {
  const where = `arguments[${at}].`;
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') {
    return { argument: [], repairs: [`"arguments[${at}]" has no name and was removed`] };
  }
  const cleaned = dropInvalidMembers(value, OPTIONAL_OF_ARGUMENT, where);
  const required = cleaned.value.required === true;
  return {
    argument: [{ ...cleaned.value, name: value.name, required }],
    repairs: cleaned.repairs,
  };
}

type Described = {
  /** The address if the server sent no name. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: ContentAnnotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** A resource of a server; unknown members are kept. */
export type Resource = Described & {
  readonly uri: string;
  /** In bytes, as reported by the server. */
  readonly size?: number;
};

/** A URI template for resources (RFC 6570). */
export type ResourceTemplate = Described & { readonly uriTemplate: string };

/** Parses one entry of `resources/list`, identified by its `uri`. */
export function parseResource(value: unknown, room?: SizeBudget): ReadEntry<Resource> {
  return readAddressed<Resource>(value, 'uri', room);
}

/** Parses one entry of `resources/templates/list`, identified by its `uriTemplate`. */
export function parseResourceTemplate(value: unknown, room?: SizeBudget): ReadEntry<ResourceTemplate> {
  return readAddressed<ResourceTemplate>(value, 'uriTemplate', room);
}

const OPTIONAL_RESOURCE_FIELDS: MemberRules = {
  name: RULES.text,
  title: RULES.text,
  description: RULES.text,
  mimeType: RULES.text,
  size: RULES.number,
  annotations: RULES.object,
  icons: RULES.icons,
  _meta: RULES.object,
};

function readAddressed<T>(value: unknown, member: 'uri' | 'uriTemplate', room?: SizeBudget): ReadEntry<T> {
  if (!isRecord(value)) return { fault: 'not an object' };
  const address = value[member];
  if (typeof address !== 'string' || address === '') {
    const name = typeof value.name === 'string' && value.name !== '' ? { name: value.name } : {};
    return { ...name, fault: `"${member}" must be a non-empty string` };
  }
  const fault = jsonError(value, room);
  if (fault !== undefined) return { name: address, fault };
  const cleaned = dropInvalidMembers(value, OPTIONAL_RESOURCE_FIELDS);
  const isNamed = cleaned.value.name !== undefined;
  const unnamed = value.name === undefined || value.name === null ? ['"name" is missing'] : [];
  return {
    item: (isNamed ? cleaned.value : { ...cleaned.value, name: address }) as T,
    name: address,
    repairs: [...cleaned.repairs, ...unnamed],
  };
}
