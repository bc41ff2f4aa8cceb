import { both as bothForms } from './forms.ts';
import type { Merging } from './merging.ts';
import { type Shape, stepsOf } from './shape.ts';
import type { Schema } from './subschemas.ts';
import { FURTHER } from './words.ts';

/** The shape of the objects that are right by both shapes; exact unless patterns meet a rule for the rest. */
export function conjoin(a: Shape, b: Shape, merging: Merging): Shape {
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
    fewest: Math.max(a.fewest, b.fewest),
    most: Math.min(a.most, b.most),
    dependentRequired: merged(a.dependentRequired, b.dependentRequired, (x, y) => [...new Set([...x, ...y])]),
    dependentSchemas: merged(a.dependentSchemas, b.dependentSchemas, both),
    remarks: mergedRemarks(a.remarks, b.remarks),
    words: [...new Set([...a.words, ...b.words, ...(isBlurred ? [FURTHER] : [])])],
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
