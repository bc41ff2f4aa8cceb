import { isRecord } from '../../../base/json-value.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import type { Given, Input } from './read-arguments.ts';
import { SchemaForms, typeOfValue } from './schema-forms.ts';

export type ConvertedArguments = {
  readonly args: Record<string, unknown>;
  /** Values that cannot be set, such as a field of a list. */
  readonly faults: readonly string[];
};

/** Adds the given values to a copy of the JSON input, each converted to the type that the schema declares for it. */
export function convertArguments(
  { base, given }: Pick<Input, 'base' | 'given'>,
  schema: JsonSchema,
): ConvertedArguments {
  const input = new SchemaForms(schema);
  const args = structuredClone(base);
  const faults: string[] = [];
  for (const [key, values] of Map.groupBy(given, (it) => it.key)) {
    const path = pathOf(key, input);
    const declared = path.reduce((at, name) => at.property(name), input);
    const fault = setValue(args, path, convert(values, declared));
    if (fault !== undefined) faults.push(`${key}: ${fault}`);
  }
  return { args, faults };
}

/** A declared name may contain dots; in any other name dots lead into nested objects. */
function pathOf(key: string, input: SchemaForms): string[] {
  const steps = key.split('.');
  return input.names?.includes(key) || steps.includes('') ? [key] : steps;
}

/** Several values of one key make a list, and so does one value where the schema accepts only a list. */
function convert(given: readonly Given[], { types, items }: SchemaForms): unknown {
  const list = given.map((it) => convertOne(it, items.types));
  const [first] = given;
  if (!first || given.length > 1) return list;
  const value = convertOne(first, types);
  return 'text' in first && types.has('array') && !isOfType(value, types) ? list : value;
}

/** Text that is JSON of a declared type, such as `5` or `true`, becomes that value even if a string is accepted too. */
function convertOne(given: Given, types: ReadonlySet<string>): unknown {
  if ('value' in given) return given.value;
  const { text } = given;
  try {
    const value: unknown = JSON.parse(text);
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
    return types.size === 0 || (isExact && typeof value !== 'string' && isOfType(value, types))
      ? value
      : text;
  } catch {
    return text;
  }
}

function isOfType(value: unknown, types: ReadonlySet<string>): boolean {
  return types.has(typeOfValue(value)) || (types.has('integer') && Number.isInteger(value));
}

/** Sets one property, creating objects on the way; returns the reason if it cannot be set. */
function setValue(
  args: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): string | undefined {
  let target = args;
  for (const [depth, name] of path.slice(0, -1).entries()) {
    if (!Object.hasOwn(target, name)) define(target, name, {});
    const next = target[name];
    if (!isRecord(next)) return `"${path.slice(0, depth + 1).join('.')}" is not an object`;
    target = next;
  }
  define(target, path.at(-1) as string, value);
  return undefined;
}

/** Unlike an assignment, this makes `__proto__` an ordinary property, as JSON.parse does. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}
