import { isRecord } from '../../base/json-value.ts';
import { conjoin } from './conjoin.ts';
import { isAnything } from './forms.ts';
import type { Merging } from './merging.ts';
import { readPointer, stepInto } from './pointer.ts';
import { ANY_SHAPE, ownShape, type Shape, stepsOf } from './shape.ts';
import type { Schema } from './subschemas.ts';
import { unite } from './unite.ts';
import { FURTHER, sayAlternatives, sayCondition } from './words.ts';

/** What is being read: references are looked up in `document`; `left` bounds how many schemas are taken together. */
export type Reading = { document: Schema; left: number; path: readonly unknown[]; merging: Merging };

/** The shape of a schema of 2020-12; nothing if it accepts no object at all. */
export function shapeOf(schema: unknown, reading: Reading): Shape | undefined {
  if (schema === false) return undefined;
  if (!isRecord(schema)) return ANY_SHAPE;
  reading.left--;
  // A schema that applies itself to the same object again says nothing new by that.
  if (reading.left < 0 || reading.path.includes(schema)) {
    return wider(ANY_SHAPE, FURTHER);
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
      wider(shape, sayCondition('Holds:', { if: condition, then, else: otherwise }, reading.merging.meter))
    );
  },
  ({ not }, { merging }) => {
    if (not === undefined || not === false || (isRecord(not) && !takesObjects(not))) return ANY_SHAPE;
    return isAnything(not) ? undefined : wider(ANY_SHAPE, sayCondition('Must not be', not, merging.meter));
  },
  (schema, { merging }) => {
    const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
    if (!Array.isArray(values)) return ANY_SHAPE;
    const objects = values.filter(isRecord);
    return objects.length === 0
      ? undefined
      : wider(ANY_SHAPE, sayCondition('Is one of', objects, merging.meter));
  },
];

function alternatives(lead: string, branches: unknown, reading: Reading): Shape | undefined {
  if (!Array.isArray(branches)) return ANY_SHAPE;
  const shapes = branches.map((branch) => shapeOf(branch, reading)).filter((it) => it !== undefined);
  const united = unite(shapes, reading.merging);
  return united === undefined || shapes.length === 1
    ? united
    : wider(united, sayAlternatives(lead, shapes, reading.merging.meter));
}

/** `unevaluatedProperties` of a shape that is exact forbids what is not named in it; of a wider one it is dropped. */
function closed(schema: Schema, shape: Shape): Shape {
  const rest = schema.unevaluatedProperties;
  if (rest === undefined || shape.additional !== undefined) return shape;
  // To a rule for the unseen around this one, nothing is left unseen.
  if (rest === true) return { ...shape, additional: true };
  const isKnown = !shape.isWider && shape.dependentSchemas.size === 0;
  return isKnown ? { ...shape, additional: rest } : wider(shape, FURTHER);
}

function wider(shape: Shape, words: string): Shape {
  return { ...shape, words: [...new Set([...shape.words, words])], isWider: true };
}

function takesObjects({ type }: Schema): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}
