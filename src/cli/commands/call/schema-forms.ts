import { jsonText } from '../../../agent/results/tool-result.ts';
import { isRecord } from '../../../base/json-value.ts';
import { readPointer, stepInto } from '../../../pool/schema/references.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { firstLine } from '../../output/format.ts';

/** Servers supply schemas, so the number of subschemas that are looked at is bounded. */
const MAX_FORMS = 1000;

/** What a schema declares at one place: all subschemas that apply there, through references and alternatives. */
export class SchemaForms {
  readonly forms: readonly JsonSchema[];
  readonly #root: JsonSchema;

  constructor(root: JsonSchema, schemas: readonly unknown[] = [root]) {
    this.#root = root;
    this.forms = resolve(root, schemas);
  }

  property(name: string): SchemaForms {
    const named = this.forms.flatMap(({ properties }) =>
      isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
    );
    const others = this.forms.map(({ additionalProperties }) => additionalProperties);
    return new SchemaForms(this.#root, named.length > 0 ? named : others);
  }

  get items(): SchemaForms {
    return new SchemaForms(
      this.#root,
      this.forms.map(({ items }) => items),
    );
  }

  /** The names of declared properties; undefined if the schema declares none, not even an empty list. */
  get names(): readonly string[] | undefined {
    const declared = this.forms.map(({ properties }) => properties).filter(isRecord);
    return declared.length > 0 ? [...new Set(declared.flatMap((it) => Object.keys(it)))] : undefined;
  }

  /** Whether the schema says explicitly that it accepts properties that it does not name. */
  get allowsOthers(): boolean {
    return this.forms.some(
      (form) =>
        [form.additionalProperties, form.unevaluatedProperties].some((it) => it === true || isRecord(it)) ||
        isRecord(form.patternProperties) ||
        (form.type === 'object' && Object.keys(form).every((key) => ANNOTATIONS.has(key))),
    );
  }

  /** The JSON Schema types of the value; empty if any type is accepted. */
  get types(): ReadonlySet<string> {
    return new Set(this.forms.flatMap(typesOf));
  }

  /** The values of `enum` and `const`. */
  get choices(): readonly unknown[] {
    return this.forms.flatMap((form) => [
      ...(Array.isArray(form.enum) ? form.enum : []),
      ...('const' in form ? [form.const] : []),
    ]);
  }

  /** Such as `a string or null`, or `one of low, high`; with the first line of the description. */
  describe(): string {
    const { choices } = this;
    const type = choices.length > 0 ? `one of ${formatChoices(choices)}` : formatTypes(this.types);
    const text = this.forms.map(({ description }) => description).find((it) => typeof it === 'string');
    return [type, ...(typeof text === 'string' ? [firstLine(text)] : [])].join(': ');
  }
}

/** Such as `a number or null`. */
export function formatTypes(types: ReadonlySet<string>): string {
  return types.size === 0 ? 'anything' : [...types].map((type) => TYPES[type] ?? type).join(' or ');
}

export function formatChoices(choices: readonly unknown[]): string {
  return choices.map((it) => (typeof it === 'string' ? it : jsonText(it))).join(', ');
}

export function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a list',
  null: 'null',
};

/** Keywords of `{ "type": "object" }` that do not restrict it. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['type', 'title', 'description', 'default', 'examples']);

function typesOf({ type, enum: choices, const: only, properties, items }: JsonSchema): string[] {
  if (type !== undefined) return [type].flat().filter((it) => Object.hasOwn(TYPES, String(it))) as string[];
  if (Array.isArray(choices)) return choices.map(typeOfValue);
  if (only !== undefined) return [typeOfValue(only)];
  if (isRecord(properties)) return ['object'];
  return items === undefined ? [] : ['array'];
}

/** Each subschema once: references may be circular or lead to one place in many ways. */
function resolve(root: JsonSchema, schemas: readonly unknown[]): JsonSchema[] {
  const forms = new Set<JsonSchema>();
  const left = schemas.toReversed();
  while (left.length > 0 && forms.size < MAX_FORMS) {
    const schema = left.pop();
    if (!isRecord(schema) || forms.has(schema)) continue;
    forms.add(schema);
    const { $ref, anyOf, oneOf, allOf } = schema;
    const pointer = typeof $ref === 'string' && $ref.startsWith('#') ? readPointer($ref.slice(1)) : undefined;
    const next = [
      pointer?.reduce<unknown>(stepInto, root),
      ...[anyOf, oneOf, allOf].filter(Array.isArray).flat(),
      schema.then,
      schema.else,
    ];
    for (const it of next.reverse()) left.push(it);
  }
  return [...forms];
}
