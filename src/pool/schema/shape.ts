import { isRecord } from '../../base/json-value.ts';
import { KEYWORDS, OTHER_ASSERTIONS } from './keywords.ts';
import type { Schema } from './subschemas.ts';

/** What a schema says about objects in the only words an API takes at the root: no alternatives, no references. */
export type Shape = {
  properties: ReadonlyMap<string, Schema>;
  required: ReadonlySet<string>;
  /** For properties that are neither named nor match a pattern; nothing is said if it is missing. */
  additional?: unknown;
  patterns: ReadonlyMap<string, Schema>;
  names?: Schema | undefined;
  fewest: number;
  most: number;
  dependentRequired: ReadonlyMap<string, readonly unknown[]>;
  dependentSchemas: ReadonlyMap<string, Schema>;
  /** What is not about which values are right: titles, examples, keys that are no keywords. */
  remarks: ReadonlyMap<string, unknown>;
  /** What could not be said in a shape, in words. Where there are any it accepts more than the schema did. */
  words: readonly string[];
  isWider: boolean;
};

/** The shape that accepts every object. */
export const ANY_SHAPE: Shape = {
  properties: new Map(),
  required: new Set(),
  patterns: new Map(),
  fewest: 0,
  most: Number.POSITIVE_INFINITY,
  dependentRequired: new Map(),
  dependentSchemas: new Map(),
  remarks: new Map(),
  words: [],
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
    fewest: typeof schema.minProperties === 'number' ? schema.minProperties : 0,
    most: typeof schema.maxProperties === 'number' ? schema.maxProperties : Number.POSITIVE_INFINITY,
    dependentRequired: mapOf(schema.dependentRequired) as Map<string, unknown[]>,
    dependentSchemas: mapOf(schema.dependentSchemas) as Map<string, Schema>,
    remarks: new Map(remarks),
    words: [],
    isWider: false,
  };
}

/** About what it takes to go through all that a shape says. */
export function stepsOf(shape: Shape): number {
  const { properties, required, patterns, dependentRequired, dependentSchemas, remarks, words } = shape;
  let steps = words.length + 1;
  for (const { size } of [properties, required, patterns, dependentRequired, dependentSchemas, remarks]) {
    steps += STEPS_PER_ENTRY * size;
  }
  for (const needs of dependentRequired.values()) steps += needs.length;
  for (const text of [remarks.get('description'), ...words]) {
    if (typeof text === 'string') steps += text.length / 16;
  }
  return steps;
}

const STEPS_PER_ENTRY = 16;

/** The schema of a shape, ready to be a root. */
export function schemaOf(shape: Shape): Record<string, unknown> {
  const { description, ...remarks } = Object.fromEntries(shape.remarks);
  const text = [...(typeof description === 'string' ? [description] : []), ...shape.words].join(' ');
  return {
    type: 'object',
    ...(text === '' ? {} : { description: text }),
    ...remarks,
    properties: Object.fromEntries(shape.properties),
    ...(shape.required.size === 0 ? {} : { required: [...shape.required] }),
    ...filled('patternProperties', shape.patterns),
    ...(shape.additional === undefined ? {} : { additionalProperties: shape.additional }),
    ...(shape.names === undefined ? {} : { propertyNames: shape.names }),
    ...(shape.fewest === 0 ? {} : { minProperties: shape.fewest }),
    ...(shape.most === Number.POSITIVE_INFINITY ? {} : { maxProperties: shape.most }),
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
