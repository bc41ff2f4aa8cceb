import { anyOf, isAnything, isSameSchema } from './forms.ts';
import type { Merging } from './merging.ts';
import { ANY_SHAPE, type Shape } from './shape.ts';
import type { Schema } from './subschemas.ts';

/**
 * The narrowest shape that accepts whatever one of the shapes accepts: all their properties, each in any of its
 * forms; required is what all require. A single shape is itself, none at all is nothing.
 */
export function unite(shapes: readonly Shape[], merging: Merging): Shape | undefined {
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
    fewest: shapes.reduce((fewest, it) => Math.min(fewest, it.fewest), first.fewest),
    most: shapes.reduce((most, it) => Math.max(most, it.most), first.most),
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
