import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { KEYWORDS, OTHER_ASSERTIONS } from './keywords.ts';
import type { Meter } from './meter.ts';
import { FreshNames } from './references.ts';
import type { Schema } from './subschemas.ts';

/** The constraints of a schema on objects in the form that APIs accept at the root: without alternatives and references. */
export type Shape = {
  properties: ReadonlyMap<string, Schema>;
  required: ReadonlySet<string>;
  /** Schema for properties that are neither named nor match a pattern; undefined if there is none. */
  additional?: unknown;
  patterns: ReadonlyMap<string, Schema>;
  names?: Schema | undefined;
  minProperties: number;
  maxProperties: number;
  dependentRequired: ReadonlyMap<string, readonly unknown[]>;
  dependentSchemas: ReadonlyMap<string, Schema>;
  /** What is not about which values are right: titles, examples, keys that are no keywords. */
  remarks: ReadonlyMap<string, unknown>;
  /** Descriptions of constraints that a shape cannot express; with any, it accepts more than the schema did. */
  notes: readonly string[];
  isWider: boolean;
};

/** The shape that accepts every object. */
export const ANY_SHAPE: Shape = {
  properties: new Map(),
  required: new Set(),
  patterns: new Map(),
  minProperties: 0,
  maxProperties: Number.POSITIVE_INFINITY,
  dependentRequired: new Map(),
  dependentSchemas: new Map(),
  remarks: new Map(),
  notes: [],
  isWider: false,
};

/** The shape of a schema's own keywords, without those that apply further schemas to the same object. */
export function ownShape(schema: Schema): Shape {
  const isRemark = (key: string) => !KEYWORDS.has(key) && !OTHER_ASSERTIONS.has(key);
  const remarks = Object.entries(schema).filter(([key]) => isRemark(key) || REMARKS.has(key));
  return {
    properties: mapOf(schema.properties) as Map<string, Schema>,
    required: new Set(Array.isArray(schema.required) ? schema.required : []),
    additional: schema.additionalProperties,
    patterns: mapOf(schema.patternProperties) as Map<string, Schema>,
    names: isRecord(schema.propertyNames)
      ? schema.propertyNames
      : schema.propertyNames === false
        ? { not: {} }
        : undefined,
    minProperties: typeof schema.minProperties === 'number' ? schema.minProperties : 0,
    maxProperties: typeof schema.maxProperties === 'number' ? schema.maxProperties : Number.POSITIVE_INFINITY,
    dependentRequired: mapOf(schema.dependentRequired) as Map<string, unknown[]>,
    dependentSchemas: mapOf(schema.dependentSchemas) as Map<string, Schema>,
    remarks: new Map(remarks),
    notes: [],
    isWider: false,
  };
}

/** Approximate cost of walking a shape, in steps. */
export function stepsOf(shape: Shape): number {
  const { properties, required, patterns, dependentRequired, dependentSchemas, remarks, notes } = shape;
  let steps = notes.length + 1;
  for (const { size } of [properties, required, patterns, dependentRequired, dependentSchemas, remarks]) {
    steps += STEPS_PER_ENTRY * size;
  }
  for (const needs of dependentRequired.values()) steps += needs.length;
  for (const text of [remarks.get('description'), ...notes]) {
    if (typeof text === 'string') steps += text.length / 16;
  }
  return steps;
}

const STEPS_PER_ENTRY = 16;

/** The schema of a shape, ready to be a root. */
export function schemaOf(shape: Shape): Record<string, unknown> {
  const { description, ...remarks } = Object.fromEntries(shape.remarks);
  const text = [...(typeof description === 'string' ? [description] : []), ...shape.notes].join(' ');
  return {
    type: 'object',
    ...(text === '' ? {} : { description: text }),
    ...remarks,
    properties: Object.fromEntries(shape.properties),
    ...(shape.required.size === 0 ? {} : { required: [...shape.required] }),
    ...filled('patternProperties', shape.patterns),
    ...(shape.additional === undefined ? {} : { additionalProperties: shape.additional }),
    ...(shape.names === undefined ? {} : { propertyNames: shape.names }),
    ...(shape.minProperties === 0 ? {} : { minProperties: shape.minProperties }),
    ...(shape.maxProperties === Number.POSITIVE_INFINITY ? {} : { maxProperties: shape.maxProperties }),
    ...filled('dependentRequired', shape.dependentRequired),
    ...filled('dependentSchemas', shape.dependentSchemas),
  };
}

const REMARKS: ReadonlySet<string> = new Set(
  '$comment deprecated description examples readOnly title writeOnly'.split(' '),
);

function filled(key: string, map: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return map.size === 0 ? {} : { [key]: Object.fromEntries(map) };
}

function mapOf(value: unknown): Map<string, unknown> {
  return new Map(isRecord(value) ? Object.entries(value) : []);
}

/** Keywords whose meaning hangs on others beside them, so two schemas that have any are not poured into one. */
const ENTANGLED: ReadonlySet<string> = new Set(
  'additionalProperties contains else if items maxContains minContains patternProperties prefixItems properties then'.split(
    ' ',
  ),
);

/** The schema that accepts what both accept. */
export function bothForms(a: unknown, b: unknown, meter: Meter): Schema {
  const [left, right] = [asSchema(a), asSchema(b)];
  if (isAnything(left) || isSameSchema(left, right, meter)) return right;
  if (isAnything(right)) return left;
  const isApart = Object.keys(right).every((key) => !Object.hasOwn(left, key));
  const isTangled = (schema: Schema) => Object.keys(schema).some((key) => ENTANGLED.has(key));
  const seesAll = [left, right].some((it) => 'unevaluatedItems' in it || 'unevaluatedProperties' in it);
  if (isApart && !seesAll && !(isTangled(left) && isTangled(right))) return { ...left, ...right };
  return { allOf: [...partsOf(left), ...partsOf(right)] };
}

/** The schema that accepts what any of them accepts; each form stays readable even if another takes everything. */
export function anyOf(forms: readonly unknown[], meter: Meter): Schema {
  meter.walk(forms);
  const unique = new Map(forms.map(asSchema).map((form) => [JSON.stringify(form), form]));
  if (unique.size > 1) unique.delete('{"not":{}}');
  const [only, ...others] = [...unique.values()].sort(
    (a, b) => Number(isAnything(a)) - Number(isAnything(b)),
  );
  if (only === undefined) return {};
  return others.length === 0 ? only : { anyOf: [only, ...others] };
}

/** Whether two schemas are equal; the comparison is charged to the meter. */
export function isSameSchema(a: unknown, b: unknown, meter: Meter): boolean {
  if (a === b) return true;
  meter.walk(a);
  meter.walk(b);
  return isEqualJson(a, b);
}

/** Whether a schema accepts every value. */
export function isAnything(schema: unknown): boolean {
  return schema === true || (isRecord(schema) && Object.keys(schema).length === 0);
}

function asSchema(value: unknown): Schema {
  return isRecord(value) ? value : value === false ? { not: {} } : {};
}

function partsOf(schema: Schema): readonly unknown[] {
  const { allOf, ...rest } = schema;
  return Array.isArray(allOf) && Object.keys(rest).length === 0 ? allOf : [schema];
}

/** What shapes are merged with: a bound on the work, and definitions for forms that many properties have. */
export class Merging {
  readonly meter: Meter;
  readonly #names: FreshNames;
  readonly #known = new Map<string, string>();
  readonly #definitions = new Map<string, Schema>();

  constructor(taken: Iterable<string>, meter: Meter) {
    this.#names = new FreshNames(taken);
    this.meter = meter;
  }

  /** By their names, the forms that were referred to. */
  get definitions(): ReadonlyMap<string, Schema> {
    return this.#definitions;
  }

  /**
   * The forms a property may have, ready to be written for so many properties: themselves, or one reference to all of them
   * if they would take too much room.
   */
  forEach(forms: readonly unknown[], properties: number): readonly unknown[] {
    if (properties < 2 || forms.length === 0 || forms.every((it) => it === true)) return forms;
    this.meter.walk(forms);
    const text = JSON.stringify(forms);
    if (text.length * properties <= ROOM || text.length <= SHORT) return forms;
    let name = this.#known.get(text);
    if (name === undefined) {
      name = this.#names.next('rest');
      this.#known.set(text, name);
      this.#definitions.set(name, anyOf(forms, this.meter));
    }
    return [{ $ref: `#/$defs/${name}` }];
  }
}

/** About what a model may read of the same form again and again before a reference is the lesser evil. */
const ROOM = 4000;
/** A reference is not shorter than this. */
const SHORT = 40;

/** Note for constraints that cannot be described more exactly. */
export const FURTHER_CONDITIONS = 'Further conditions hold, which the server checks.';

/** A note that quotes a dropped condition as JSON, if it is short. */
export function describeCondition(lead: string, condition: unknown, meter: Meter): string {
  meter.walk(condition);
  const json = JSON.stringify(condition);
  return json.length > MAX_NOTE_LENGTH ? FURTHER_CONDITIONS : `${lead} ${json}.`;
}

/** Alternatives at the root, each by its name, what it fixes and what it needs. */
export function describeAlternatives(lead: string, branches: readonly Shape[], meter: Meter): string {
  meter.spend((branches[0]?.required.size ?? 0) * branches.length);
  const shared = [...(branches[0]?.required ?? [])].filter((name) =>
    branches.every((branch) => branch.required.has(name)),
  );
  const parts = branches.map((branch) => describeBranch(branch, new Set(shared), meter));
  const text = `${lead}: ${parts.join('; ')}.`;
  return truncate(text, 4 * MAX_NOTE_LENGTH);
}

const MAX_NOTE_LENGTH = 500;

function describeBranch(branch: Shape, shared: ReadonlySet<string>, meter: Meter): string {
  meter.spend(stepsOf(branch) + shared.size);
  const { title, description } = Object.fromEntries(branch.remarks);
  const fixed = [...branch.properties].flatMap(([name, form]) => {
    const only = Array.isArray(form.enum) && form.enum.length === 1 ? form.enum[0] : form.const;
    if (only === undefined || isRecord(only)) return [];
    meter.walk(only);
    return [`${name} = ${JSON.stringify(only)}`];
  });
  const needed = [...branch.required].filter((name) => !shared.has(name));
  const parts = [
    ...(typeof title === 'string' ? [title] : []),
    ...(typeof description === 'string' ? [`(${description})`] : []),
    ...(fixed.length === 0 ? [] : [`with ${joinNames(fixed)}`]),
    needed.length === 0 ? 'needs nothing more' : `needs ${joinNames(needed)}`,
    ...branch.notes,
  ];
  return parts.join(' ');
}

function joinNames(list: readonly string[]): string {
  return list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`;
}
