import { isRecord } from '../../../base/json-value.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';

/** A part of a tool's input as its schema declares it: all the forms it may have. Empty if nothing is declared. */
export type Declared = {
  readonly root: JsonSchema;
  readonly forms: readonly JsonSchema[];
};

/** More forms are not looked at: nobody writes so many, and a schema is a stranger's. */
const MOST_FORMS = 1000;

/** What a schema declares, with references followed and alternatives side by side. */
export function declared(schema: unknown, root: JsonSchema): Declared {
  return { root, forms: formsOf([schema], root) };
}

/** The names of an object's declared members. */
export function memberNames({ forms }: Declared): string[] {
  return [
    ...new Set(forms.flatMap(({ properties }) => (isRecord(properties) ? Object.keys(properties) : []))),
  ];
}

/** What one member of an object may be. */
export function memberOf({ forms, root }: Declared, name: string): Declared {
  const named = forms.flatMap(({ properties }) =>
    isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
  );
  const found = named.length > 0 ? named : forms.map(({ additionalProperties }) => additionalProperties);
  return { root, forms: formsOf(found, root) };
}

/** What one item of a list may be. */
export function itemOf({ forms, root }: Declared): Declared {
  return {
    root,
    forms: formsOf(
      forms.map(({ items }) => items),
      root,
    ),
  };
}

/** Whether it says which members it has, be it none. */
export function hasMembers({ forms }: Declared): boolean {
  return forms.some(({ properties }) => isRecord(properties));
}

/** Whether one of its forms says that it takes members it does not name. Not to say so is no such word. */
export function isOpen({ forms }: Declared): boolean {
  return forms.some(
    (form) =>
      [form.additionalProperties, form.unevaluatedProperties].some((it) => it === true || isRecord(it)) ||
      isRecord(form.patternProperties) ||
      isAnyObject(form),
  );
}

/** `{ "type": "object" }` and no more. */
function isAnyObject(form: JsonSchema): boolean {
  return form.type === 'object' && Object.keys(form).every((key) => PLAIN.has(key));
}

const PLAIN: ReadonlySet<string> = new Set(['type', 'title', 'description', 'default', 'examples']);

/** The types in the words of JSON Schema; none if anything will do. */
export function typesOf({ forms }: Declared): ReadonlySet<string> {
  return new Set(forms.flatMap((form) => typesOfForm(form)));
}

/** The values it has to be one of; none if it is not so. */
export function choicesOf({ forms }: Declared): readonly unknown[] {
  return forms.flatMap((form) => [
    ...(Array.isArray(form.enum) ? form.enum : []),
    ...('const' in form ? [form.const] : []),
  ]);
}

/** Whether it has to be one of its choices: nothing that is declared takes another value. */
export function isChoice(declared: Declared): boolean {
  const isBound = (form: JsonSchema) => Array.isArray(form.enum) || 'const' in form;
  return (
    choicesOf(declared).length > 0 &&
    declared.forms.every((form) => isBound(form) || typesOfForm(form).length === 0)
  );
}

/** The type of a value, in the words of JSON Schema. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** Whether one of the types is that of the value; no types take anything. */
export function isOfType(value: unknown, types: ReadonlySet<string>): boolean {
  if (types.size === 0 || types.has(typeOfValue(value))) return true;
  return types.has('integer') && Number.isInteger(value);
}

function typesOfForm({ type, enum: choices, const: only, properties, items }: JsonSchema): string[] {
  if (typeof type === 'string') return TYPES.has(type) ? [type] : [];
  if (Array.isArray(type)) return type.filter((it) => TYPES.has(it));
  if (Array.isArray(choices)) return choices.map(typeOfValue);
  if (only !== undefined) return [typeOfValue(only)];
  if (isRecord(properties)) return ['object'];
  return items === undefined ? [] : ['array'];
}

/** The types of JSON Schema; a name that is none of them says nothing about a value. */
const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** All the forms that schemas lead to, each once: references may lead back, or to one place by many ways. */
function formsOf(schemas: readonly unknown[], root: JsonSchema): JsonSchema[] {
  const forms = new Set<JsonSchema>();
  const left = schemas.toReversed();
  while (left.length > 0 && forms.size < MOST_FORMS) {
    const schema = left.pop();
    if (!isRecord(schema) || forms.has(schema)) continue;
    forms.add(schema);
    const target = typeof schema.$ref === 'string' ? pointed(root, schema.$ref) : undefined;
    const branches: unknown[] = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat();
    const next = [target, ...branches, schema.then, schema.else];
    for (const it of next.reverse()) left.push(it);
  }
  return [...forms];
}

/** Only references within the schema are followed. */
function pointed(root: JsonSchema, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  const steps = decoded(reference.slice(1)).split('/').slice(1);
  let at: unknown = root;
  for (const step of steps) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    at =
      (isRecord(at) || Array.isArray(at)) && Object.hasOwn(at, name) ? (at as JsonSchema)[name] : undefined;
  }
  return at;
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}
