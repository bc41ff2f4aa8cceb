import { jsonText } from '../../../agent/results/tool-result.ts';
import { isRecord } from '../../../base/json-value.ts';
import { readPointer, stepInto } from '../../../pool/schema/references.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { firstLine } from '../../output/format.ts';

/** Servers supply schemas, so the number of subschemas that are visited is limited. */
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

  /** The names of declared properties; undefined if no subschema has `properties`. */
  get names(): readonly string[] | undefined {
    const declared = this.forms.map(({ properties }) => properties).filter(isRecord);
    return declared.length > 0 ? [...new Set(declared.flatMap((it) => Object.keys(it)))] : undefined;
  }

  /** Whether the schema explicitly accepts properties that it does not name. */
  get allowsOthers(): boolean {
    return this.forms.some(
      ({ additionalProperties, unevaluatedProperties, patternProperties }) =>
        [additionalProperties, unevaluatedProperties].some((it) => it === true || isRecord(it)) ||
        isRecord(patternProperties),
    );
  }

  /** The JSON Schema types of the value; empty if any type is accepted. */
  get types(): ReadonlySet<string> {
    return new Set(this.forms.flatMap(typesOf));
  }

  /** Such as `a string or null`, or `one of low, high`; with the first line of the description. */
  describe(): string {
    const choices = this.forms.flatMap((form) => (Array.isArray(form.enum) ? form.enum : []));
    const type = choices.length > 0 ? formatChoices(choices) : formatTypes([...this.types]);
    const text = this.forms.map(({ description }) => description).find((it) => typeof it === 'string');
    return text === undefined ? type : `${type}: ${firstLine(text)}`;
  }
}

/** Such as `a number or null`. */
export function formatTypes(types: readonly string[]): string {
  return types.length === 0 ? 'any value' : types.map((type) => TYPES[type] ?? type).join(' or ');
}

export function formatChoices(choices: readonly unknown[]): string {
  return `one of ${choices.map((it) => (typeof it === 'string' ? it : jsonText(it))).join(', ')}`;
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

function typesOf({ type, enum: choices, const: only, properties, items }: JsonSchema): string[] {
  if (type !== undefined) return [type].flat().filter((it) => Object.hasOwn(TYPES, String(it))) as string[];
  if (Array.isArray(choices)) return choices.map(typeOfValue);
  if (only !== undefined) return [typeOfValue(only)];
  if (isRecord(properties)) return ['object'];
  return items === undefined ? [] : ['array'];
}

/** Visits each subschema once: references may be circular or reach one subschema in many ways. */
function resolve(root: JsonSchema, schemas: readonly unknown[]): JsonSchema[] {
  const forms = new Set<JsonSchema>();
  const pending = schemas.toReversed();
  while (pending.length > 0 && forms.size < MAX_FORMS) {
    const schema = pending.pop();
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
    for (const it of next.reverse()) pending.push(it);
  }
  return [...forms];
}
