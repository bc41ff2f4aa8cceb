import { isEqualJson, isRecord } from '../../base/json-value.ts';
import type { Meter } from './meter.ts';
import type { Schema } from './subschemas.ts';

/** Keywords whose meaning hangs on others beside them, so two schemas that have any are not poured into one. */
const ENTANGLED: ReadonlySet<string> = new Set(
  'additionalProperties contains else if items maxContains minContains patternProperties prefixItems properties then'.split(
    ' ',
  ),
);

/** The schema that accepts what both accept. */
export function both(a: unknown, b: unknown, meter: Meter): Schema {
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

/** Whether a schema says nothing at all. */
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
