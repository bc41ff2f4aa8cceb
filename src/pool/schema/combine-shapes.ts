import { isRecord } from '../../base/json-value.ts';
import { readPointer, stepInto } from './references.ts';
import {
  ANY_SHAPE,
  anyOf,
  bothForms,
  describeAlternatives,
  describeCondition,
  FURTHER_CONDITIONS,
  isAnything,
  isSameSchema,
  type Merging,
  ownShape,
  type Shape,
  stepsOf,
} from './shape.ts';
import type { Schema } from './subschemas.ts';

/** What is being read: references are looked up in `document`; `left` bounds how many schemas are taken together. */
type Reading = { document: Schema; left: number; path: readonly unknown[]; merging: Merging };

/** The shape of a schema of 2020-12; nothing if it accepts no object at all. */
export function shapeOf(schema: unknown, reading: Reading): Shape | undefined {
  if (schema === false) return undefined;
  if (!isRecord(schema)) return ANY_SHAPE;
  reading.left--;
  // A schema that applies itself to the same object again says nothing new by that.
  if (reading.left < 0 || reading.path.includes(schema)) {
    return wider(ANY_SHAPE, FURTHER_CONDITIONS);
  }
  if (!takesObjects(schema)) return undefined;
  const below: Reading = { ...reading, path: [...reading.path, schema] };
  let shape: Shape | undefined = ownShape(schema);
  reading.merging.meter.spend(stepsOf(shape));
  for (const part of PARTS) {
    const found = part(schema, below);
    reading.left = below.left;
    if (found === undefined) return undefined;
    shape = found === ANY_SHAPE ? shape : conjoin(shape, found, reading.merging);
  }
  return closed(schema, shape);
}

type Part = (schema: Schema, reading: Reading) => Shape | undefined;

/** Each is one way in which a schema applies more conditions to the same object. */
const PARTS: readonly Part[] = [
  ({ $ref }, reading) => {
    if (typeof $ref !== 'string') return ANY_SHAPE;
    const tokens = readPointer($ref.slice(1)) ?? [];
    return shapeOf(
      tokens.reduce<unknown>((at, token) => stepInto(at, token), reading.document),
      reading,
    );
  },
  ({ allOf }, reading) => {
    let shape: Shape | undefined = ANY_SHAPE;
    for (const part of Array.isArray(allOf) ? allOf : []) {
      const next = shapeOf(part, reading);
      if (next === undefined) return undefined;
      shape = shape === ANY_SHAPE ? next : conjoin(shape, next, reading.merging);
    }
    return shape;
  },
  ({ anyOf }, reading) => alternatives('One or more of', anyOf, reading),
  ({ oneOf }, reading) => alternatives('One of', oneOf, reading),
  (schema, reading) => {
    const { if: condition, then = true, else: otherwise = true } = schema;
    if (condition === undefined || (isAnything(then) && isAnything(otherwise))) return ANY_SHAPE;
    const branches = [shapeOf(then, reading), shapeOf(otherwise, reading)].filter((it) => it !== undefined);
    const shape = unite(branches, reading.merging);
    return (
      shape &&
      wider(
        shape,
        describeCondition('Holds:', { if: condition, then, else: otherwise }, reading.merging.meter),
      )
    );
  },
  ({ not }, { merging }) => {
    if (not === undefined || not === false || (isRecord(not) && !takesObjects(not))) return ANY_SHAPE;
    return isAnything(not)
      ? undefined
      : wider(ANY_SHAPE, describeCondition('Must not be', not, merging.meter));
  },
  (schema, { merging }) => {
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
    if (!Array.isArray(values)) return ANY_SHAPE;
    const objects = values.filter(isRecord);
    return objects.length === 0
      ? undefined
      : wider(ANY_SHAPE, describeCondition('Is one of', objects, merging.meter));
  },
];

function alternatives(lead: string, branches: unknown, reading: Reading): Shape | undefined {
  if (!Array.isArray(branches)) return ANY_SHAPE;
  const shapes = branches.map((branch) => shapeOf(branch, reading)).filter((it) => it !== undefined);
  const united = unite(shapes, reading.merging);
  return united === undefined || shapes.length === 1
    ? united
    : wider(united, describeAlternatives(lead, shapes, reading.merging.meter));
}

/** `unevaluatedProperties` of a shape that is exact forbids what is not named in it; of a wider one it is dropped. */
function closed(schema: Schema, shape: Shape): Shape {
  const rest = schema.unevaluatedProperties;
  if (rest === undefined || shape.additional !== undefined) return shape;
  // To a rule for the unseen around this one, nothing is left unseen.
  if (rest === true) return { ...shape, additional: true };
  const isKnown = !shape.isWider && shape.dependentSchemas.size === 0;
  return isKnown ? { ...shape, additional: rest } : wider(shape, FURTHER_CONDITIONS);
}

function wider(shape: Shape, note: string): Shape {
  return { ...shape, notes: [...new Set([...shape.notes, note])], isWider: true };
}

function takesObjects({ type }: Schema): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

/** The shape of the objects that are right by both shapes; exact unless patterns meet a rule for the rest. */
function conjoin(a: Shape, b: Shape, merging: Merging): Shape {
  const { meter } = merging;
  meter.spend(stepsOf(a) + stepsOf(b));
  const both = (left: unknown, right: unknown) => bothForms(left, right, meter);
  const isBlurred =
    (a.additional !== undefined && (b.patterns.size > 0 || (a.patterns.size > 0 && hasOthers(b, a)))) ||
    (b.additional !== undefined && (a.patterns.size > 0 || (b.patterns.size > 0 && hasOthers(a, b))));
  const properties = new Map<string, Schema>();
  const names = new Set([...a.properties.keys(), ...b.properties.keys()]);
  const [restOfA, restOfB] = [a, b].map((it) => restOf(it, names.size - it.properties.size, merging));
  for (const name of names) {
    const left = a.properties.get(name) ?? restOfA;
    const right = b.properties.get(name) ?? restOfB;
    // A name that one side forbids is left out: the rule for the rest then forbids it.
    if (left !== false && right !== false) properties.set(name, both(left, right));
  }
  return {
    properties,
    required: new Set([...a.required, ...b.required]),
    additional: bothOr(a.additional, b.additional, both),
    patterns: merged(a.patterns, b.patterns, both),
    names: a.names === undefined || b.names === undefined ? (a.names ?? b.names) : both(a.names, b.names),
    minProperties: Math.max(a.minProperties, b.minProperties),
    maxProperties: Math.min(a.maxProperties, b.maxProperties),
    dependentRequired: merged(a.dependentRequired, b.dependentRequired, (x, y) => [...new Set([...x, ...y])]),
    dependentSchemas: merged(a.dependentSchemas, b.dependentSchemas, both),
    remarks: mergedRemarks(a.remarks, b.remarks),
    notes: [...new Set([...a.notes, ...b.notes, ...(isBlurred ? [FURTHER_CONDITIONS] : [])])],
    isWider: a.isWider || b.isWider || isBlurred,
  };
}

function hasOthers(shape: Shape, than: Shape): boolean {
  return [...shape.properties.keys()].some((name) => !than.properties.has(name));
}

/** What properties are that the shape does not name, of which there are so many. */
function restOf({ patterns, additional = true }: Shape, properties: number, merging: Merging): unknown {
  // A name may match a pattern, which stays a pattern; a server's pattern is never run here.
  if (patterns.size > 0 || typeof additional === 'boolean') return patterns.size > 0 || additional;
  return merging.forEach([additional], properties)[0];
}

function bothOr(a: unknown, b: unknown, both: (a: unknown, b: unknown) => Schema): unknown {
  if (a === undefined || b === undefined) return a ?? b;
  if (a === false || b === false) return false;
  return both(a, b);
}

function merged<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  merge: (x: T, y: T) => T,
): Map<string, T> {
  const all = new Map(a);
  for (const [key, value] of b) {
    const before = all.get(key);
    all.set(key, before === undefined ? value : merge(before, value));
  }
  return all;
}

function mergedRemarks(
  a: ReadonlyMap<string, unknown>,
  b: ReadonlyMap<string, unknown>,
): Map<string, unknown> {
  const all = new Map([...b, ...a]);
  const texts = [a, b].map((remarks) => remarks.get('description')).filter((it) => typeof it === 'string');
  if (texts.length > 0) all.set('description', [...new Set(texts)].join(' '));
  return all;
}

/**
 * The narrowest shape that accepts whatever one of the shapes accepts: all their properties, each in any of its
 * forms; required is what all require. A single shape is itself, none at all is nothing.
 */
function unite(shapes: readonly Shape[], merging: Merging): Shape | undefined {
  const [first, ...others] = shapes;
  if (first === undefined || others.length === 0) return first;
  const { meter } = merging;
  const names = new Set<string>();
  for (const shape of shapes) {
    meter.spend(shape.properties.size);
    for (const name of shape.properties.keys()) names.add(name);
  }
  meter.spend((STEPS_PER_FORM * names.size + first.required.size) * shapes.length);
  const rests = shapes.map(formsOfRest);
  const undeclared = shapes.map((shape, at) =>
    merging.forEach(rests[at] ?? [], names.size - shape.properties.size),
  );
  const properties = new Map<string, Schema>();
  for (const name of names) {
    const forms = shapes.flatMap((shape, at): readonly unknown[] => {
      const declared = shape.properties.get(name);
      return declared === undefined ? (undeclared[at] ?? []) : [declared];
    });
    properties.set(name, anyOf(forms, meter));
  }
  const rest = rests.flat();
  const shared = <T>(pick: (shape: Shape) => ReadonlyMap<string, T>): Map<string, T> =>
    new Map(
      [...pick(first)].filter(([key, value]) =>
        others.every((it) => isSameSchema(pick(it).get(key), value, meter)),
      ),
    );
  return {
    ...ANY_SHAPE,
    properties,
    required: new Set([...first.required].filter((name) => others.every((it) => it.required.has(name)))),
    additional: rest.some(isAnything) ? undefined : rest.length === 0 ? false : anyOf(rest, meter),
    names: others.every((it) => isSameSchema(it.names, first.names, meter)) ? first.names : undefined,
    minProperties: shapes.reduce((fewest, it) => Math.min(fewest, it.minProperties), first.minProperties),
    maxProperties: shapes.reduce((max, it) => Math.max(max, it.maxProperties), first.maxProperties),
    dependentRequired: shared((it) => it.dependentRequired),
    dependentSchemas: shared((it) => it.dependentSchemas),
    isWider: true,
  };
}

const STEPS_PER_FORM = 4;

/** What a property that is not named may be, nothing if it is forbidden: it may match a pattern or not, since none is run here. */
function formsOfRest({ additional, patterns }: Shape): readonly unknown[] {
  if (additional === undefined || additional === true) return [true];
  return additional === false ? [...patterns.values()] : [additional, ...patterns.values()];
}
