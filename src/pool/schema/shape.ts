import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { describeCondition, FURTHER_CONDITIONS, KEYWORDS, type Schema } from './keywords.ts';
import { readPointer, valueAt } from './references.ts';

/** The constraints of a schema on objects in the form that APIs accept at the root: without alternatives and references. */
type Shape = {
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: ReadonlySet<unknown>;
  /** The value of `additionalProperties`. */
  readonly additional?: unknown;
  /** Other keywords about objects: `patternProperties`, `minProperties` … */
  readonly others: ReadonlyMap<string, unknown>;
  /** Keywords that do not decide about values: titles, examples, unknown keys. */
  readonly annotations: ReadonlyMap<string, unknown>;
  /** Descriptions of constraints that a shape cannot express. If there are any, the shape accepts more than the schema. */
  readonly notes: readonly string[];
};

/** The shape that accepts every object. */
const ANY_SHAPE: Shape = {
  properties: new Map(),
  required: new Set(),
  others: new Map(),
  annotations: new Map(),
  notes: [],
};

/** How many schemas are merged into a root; a note replaces further ones. */
const MAX_MERGED_SCHEMAS = 64;

/** Resolves references in `document`; `left` is how many more schemas may be merged, `path` those being merged. */
type Reading = {
  readonly document: Schema;
  readonly path: readonly unknown[];
  readonly left: { count: number };
};

/** The shape of a schema of 2020-12; undefined if it accepts no object. */
export function shapeOf(schema: unknown, document: Schema): Shape | undefined {
  return readShape(schema, { document, path: [], left: { count: MAX_MERGED_SCHEMAS } });
}

/** The schema of a shape, for a root. */
export function schemaOf({ properties, required, additional, others, annotations, notes }: Shape): Schema {
  const { description, ...remaining } = Object.fromEntries(annotations);
  const text = [...(typeof description === 'string' ? [description] : []), ...notes].join(' ');
  return {
    type: 'object',
    ...(text !== '' && { description: text }),
    ...remaining,
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
    ...(additional !== undefined && { additionalProperties: additional }),
    ...Object.fromEntries(others),
  };
}

function readShape(schema: unknown, reading: Reading): Shape | undefined {
  if (schema === false) return undefined;
  if (!isRecord(schema)) return ANY_SHAPE;
  // A schema that applies itself to the same object adds nothing.
  if (--reading.left.count < 0 || reading.path.includes(schema)) return wider(ANY_SHAPE, FURTHER_CONDITIONS);
  if (!acceptsObjects(schema)) return undefined;
  const below = { ...reading, path: [...reading.path, schema] };
  let shape = ownShape(schema);
  for (const part of PARTS) {
    const applied = part(schema, below);
    if (applied === undefined) return undefined;
    shape = conjoin(shape, applied);
  }
  return withUnevaluated(schema, shape);
}

/** Each applies further conditions of a schema to the same object. */
const PARTS: readonly ((schema: Schema, reading: Reading) => Shape | undefined)[] = [
  ({ $ref }, reading) => {
    if (typeof $ref !== 'string') return ANY_SHAPE;
    return readShape(valueAt(reading.document, readPointer($ref.slice(1)) ?? []), reading);
  },
  ({ allOf }, reading) => {
    let shape = ANY_SHAPE;
    for (const part of partsWithin(allOf, reading)) {
      const next = readShape(part, reading);
      if (next === undefined) return undefined;
      shape = conjoin(shape, next);
    }
    return shape;
  },
  ({ anyOf }, reading) => alternatives('One or more of', anyOf, reading),
  ({ oneOf }, reading) => alternatives('One of', oneOf, reading),
  (schema, reading) => {
    const { if: condition, then = true, else: otherwise = true } = schema;
    if (condition === undefined || (isAnything(then) && isAnything(otherwise))) return ANY_SHAPE;
    const branches = [readShape(then, reading), readShape(otherwise, reading)].filter(
      (it) => it !== undefined,
    );
    const shape = unite(branches);
    return shape && wider(shape, describeCondition('Condition:', { if: condition, then, else: otherwise }));
  },
  ({ not }) => {
    if (not === undefined || not === false || (isRecord(not) && !acceptsObjects(not))) return ANY_SHAPE;
    return isAnything(not) ? undefined : wider(ANY_SHAPE, describeCondition('Must not be', not));
  },
  (schema) => {
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
    if (!Array.isArray(values)) return ANY_SHAPE;
    const objects = values.filter(isRecord);
    return objects.length === 0 ? undefined : wider(ANY_SHAPE, describeCondition('Must be one of', objects));
  },
];

function alternatives(lead: string, branches: unknown, reading: Reading): Shape | undefined {
  if (!Array.isArray(branches)) return ANY_SHAPE;
  const shapes = partsWithin(branches, reading)
    .map((branch) => readShape(branch, reading))
    .filter((it) => it !== undefined);
  const united = unite(shapes);
  return united === undefined || shapes.length === 1
    ? united
    : wider(united, describeAlternatives(lead, shapes));
}

/** The schemas of a list that may still be merged, and one more if there are more, which becomes a note. */
function partsWithin(list: unknown, { left }: Reading): readonly unknown[] {
  return Array.isArray(list) ? list.slice(0, Math.max(0, left.count) + 1) : [];
}

function acceptsObjects({ type }: Schema): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function wider(shape: Shape, note: string): Shape {
  return { ...shape, notes: [...new Set([...shape.notes, note])] };
}

const OBJECT_KEYWORDS: ReadonlySet<string> = new Set(
  'patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas'.split(' '),
);
const ANNOTATIONS: ReadonlySet<string> = new Set(
  '$comment deprecated description examples readOnly title writeOnly'.split(' '),
);

/** The shape of a schema's own keywords, without those that apply further schemas to the same object. */
function ownShape(schema: Schema): Shape {
  const isAnnotation = (key: string) =>
    ANNOTATIONS.has(key) || !(KEYWORDS.has(key) || key === 'type' || key === '$ref');
  const entries = Object.entries(schema);
  return {
    properties: new Map(
      isRecord(schema.properties) ? Object.entries(schema.properties as Record<string, Schema>) : [],
    ),
    required: new Set(Array.isArray(schema.required) ? schema.required : []),
    additional: schema.additionalProperties,
    others: new Map(entries.filter(([key]) => OBJECT_KEYWORDS.has(key))),
    annotations: new Map(entries.filter(([key]) => isAnnotation(key))),
    notes: [],
  };
}

/** Adds `unevaluatedProperties` to a shape that is exact; for a wider one a note replaces it. */
function withUnevaluated({ unevaluatedProperties: rest }: Schema, shape: Shape): Shape {
  if (rest === undefined || shape.additional !== undefined) return shape;
  if (rest === true) return { ...shape, additional: true };
  const isExact = shape.notes.length === 0 && !shape.others.has('dependentSchemas');
  return isExact ? { ...shape, additional: rest } : wider(shape, FURTHER_CONDITIONS);
}

/** The shape of the objects that both shapes accept, or a wider one with a note. */
function conjoin(a: Shape, b: Shape): Shape {
  if (a === ANY_SHAPE) return b;
  if (b === ANY_SHAPE) return a;
  const properties = new Map<string, Schema>();
  for (const name of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const [left, right] = [a, b].map((it) => it.properties.get(name) ?? !isClosed(it));
    // A name that one side forbids is left out: `additionalProperties` then forbids it.
    if (left !== false && right !== false) properties.set(name, bothForms(left, right));
  }
  const others = new Map([...b.others, ...a.others]);
  const isBlurred =
    [...a.others].some(([key, value]) => b.others.has(key) && !isEqualJson(value, b.others.get(key))) ||
    ((a.additional !== undefined || b.additional !== undefined) && others.has('patternProperties')) ||
    (isRecord(a.additional) && hasMoreNames(b, a)) ||
    (isRecord(b.additional) && hasMoreNames(a, b));
  return {
    properties,
    required: new Set([...a.required, ...b.required]),
    additional: bothAdditional(a.additional, b.additional),
    others,
    annotations: mergedAnnotations(a.annotations, b.annotations),
    notes: [...new Set([...a.notes, ...b.notes, ...(isBlurred ? [FURTHER_CONDITIONS] : [])])],
  };
}

/** Whether a shape forbids every property that it does not name. */
function isClosed({ additional, others }: Shape): boolean {
  return additional === false && !others.has('patternProperties');
}

function hasMoreNames(shape: Shape, than: Shape): boolean {
  return [...shape.properties.keys()].some((name) => !than.properties.has(name));
}

function bothAdditional(a: unknown, b: unknown): unknown {
  if (a === undefined || b === undefined) return a ?? b;
  return a === false || b === false ? false : bothForms(a, b);
}

function mergedAnnotations(
  a: ReadonlyMap<string, unknown>,
  b: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, unknown> {
  const texts = [a, b].map((it) => it.get('description')).filter((it) => typeof it === 'string');
  const description = [...new Set(texts)].join(' ');
  return new Map([...b, ...a, ...(texts.length > 0 ? [['description', description] as const] : [])]);
}

/**
 * A shape that accepts whatever one of the shapes accepts: all their properties, each in any of its forms; required is
 * what all require. Undefined without any shape.
 */
function unite(shapes: readonly Shape[]): Shape | undefined {
  const [first, ...others] = shapes;
  if (first === undefined || others.length === 0) return first;
  const properties = new Map<string, Schema>();
  for (const name of new Set(shapes.flatMap((shape) => [...shape.properties.keys()]))) {
    const forms = shapes.map((shape) => shape.properties.get(name) ?? !isClosed(shape));
    properties.set(name, anyForm(forms.filter((form) => form !== false)));
  }
  return {
    ...ANY_SHAPE,
    properties,
    required: new Set([...first.required].filter((name) => others.every((it) => it.required.has(name)))),
    ...(shapes.every(isClosed) && { additional: false }),
    others: new Map(
      [...first.others].filter(([key, value]) =>
        others.every((it) => isEqualJson(it.others.get(key), value)),
      ),
    ),
  };
}

/** Keywords whose meaning depends on keywords beside them, so that two schemas with any of them are not merged. */
const ENTANGLED: ReadonlySet<string> = new Set(
  'additionalProperties contains else if items maxContains minContains patternProperties prefixItems properties then'.split(
    ' ',
  ),
);

/** The schema that accepts what both accept. */
function bothForms(a: unknown, b: unknown): Schema {
  const [left, right] = [asSchema(a), asSchema(b)];
  if (isAnything(left) || isEqualJson(left, right)) return right;
  if (isAnything(right)) return left;
  const isApart = Object.keys(right).every((key) => !Object.hasOwn(left, key));
  const isTangled = (schema: Schema) => Object.keys(schema).some((key) => ENTANGLED.has(key));
  const seesAll = [left, right].some((it) => 'unevaluatedItems' in it || 'unevaluatedProperties' in it);
  if (isApart && !seesAll && !(isTangled(left) && isTangled(right))) return { ...left, ...right };
  return { allOf: [...partsOf(left), ...partsOf(right)] };
}

/** The schema that accepts what any of them accepts; a form stays readable even if another one accepts everything. */
function anyForm(forms: readonly unknown[]): Schema {
  const unique = new Map(forms.map(asSchema).map((form) => [JSON.stringify(form), form]));
  if (unique.size > 1) unique.delete('{"not":{}}');
  const sorted = [...unique.values()].sort((a, b) => Number(isAnything(a)) - Number(isAnything(b)));
  return sorted.length === 1 ? (sorted[0] as Schema) : { anyOf: sorted };
}

/** Whether a schema accepts every value. */
function isAnything(schema: unknown): boolean {
  return schema === true || (isRecord(schema) && Object.keys(schema).length === 0);
}

function asSchema(value: unknown): Schema {
  return isRecord(value) ? value : value === false ? { not: {} } : {};
}

function partsOf(schema: Schema): readonly unknown[] {
  const { allOf, ...rest } = schema;
  return Array.isArray(allOf) && Object.keys(rest).length === 0 ? allOf : [schema];
}

/** Describes alternatives at the root: the title of each, the values it fixes and the names it requires. */
function describeAlternatives(lead: string, branches: readonly Shape[]): string {
  const isShared = (name: unknown) => branches.every((branch) => branch.required.has(name));
  const parts = branches.map(({ annotations, properties, required, notes }) => {
    const { title, description } = Object.fromEntries(annotations);
    const fixed = [...properties].flatMap(([name, form]) => {
      const only = Array.isArray(form.enum) && form.enum.length === 1 ? form.enum[0] : form.const;
      return only === undefined || isRecord(only) ? [] : [`${name} = ${JSON.stringify(only)}`];
    });
    const needed = [...required].filter((name) => !isShared(name)).map(String);
    return [
      ...(typeof title === 'string' ? [title] : []),
      ...(typeof description === 'string' ? [`(${description})`] : []),
      ...(fixed.length > 0 ? [`with ${joinNames(fixed)}`] : []),
      needed.length > 0 ? `needs ${joinNames(needed)}` : 'needs nothing more',
      ...notes,
    ].join(' ');
  });
  return truncate(`${lead}: ${parts.join('; ')}.`, MAX_DESCRIPTION_LENGTH);
}

const MAX_DESCRIPTION_LENGTH = 2000;

function joinNames(list: readonly string[]): string {
  return list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`;
}
