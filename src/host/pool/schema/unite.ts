import { anyOf, isAnything, isSame } from './forms.ts';
import { ANY_SHAPE, type Shape } from './shape.ts';
import type { Schema } from './subschemas.ts';

/**
 * The narrowest shape that accepts whatever one of the shapes accepts: all their properties, each in any of its
 * forms; required is what all require. A single shape is itself, none at all is nothing.
 */
export function unite(shapes: readonly Shape[]): Shape | undefined {
  const [first, ...others] = shapes;
  if (first === undefined || others.length === 0) return first;
  const properties = new Map<string, Schema>();
  for (const name of new Set(shapes.flatMap((shape) => [...shape.properties.keys()]))) {
    properties.set(name, anyOf(shapes.flatMap((shape) => formsOf(shape, name))));
  }
  const rest = shapes.flatMap(formsOfRest);
  const shared = <T>(pick: (shape: Shape) => ReadonlyMap<string, T>): Map<string, T> =>
    new Map(
      [...pick(first)].filter(([key, value]) => others.every((it) => isSame(pick(it).get(key), value))),
    );
  return {
    ...ANY_SHAPE,
    properties,
    required: new Set([...first.required].filter((name) => others.every((it) => it.required.has(name)))),
    additional: rest.some(isAnything) ? undefined : rest.length === 0 ? false : anyOf(rest),
    names: others.every((it) => isSame(it.names, first.names)) ? first.names : undefined,
    fewest: Math.min(...shapes.map((it) => it.fewest)),
    most: Math.max(...shapes.map((it) => it.most)),
    dependentRequired: shared((it) => it.dependentRequired),
    dependentSchemas: shared((it) => it.dependentSchemas),
    isWider: true,
  };
}

/** What a property may be in this shape: nothing if it is forbidden. */
function formsOf(shape: Shape, name: string): unknown[] {
  const declared = shape.properties.get(name);
  return declared === undefined ? formsOfRest(shape) : [declared];
}

/** What a property that is not named may be: it may match a pattern or not, since none is run here. */
function formsOfRest({ additional, patterns }: Shape): unknown[] {
  if (additional === undefined || additional === true) return [true];
  return additional === false ? [...patterns.values()] : [additional, ...patterns.values()];
}
