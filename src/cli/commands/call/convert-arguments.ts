import { jsonText } from '../../../agent/results/tool-result.ts';
import { isRecord } from '../../../base/json-value.ts';
import { truncate } from '../../../base/text/display-text.ts';
import { nearest } from '../../../base/text/nearest.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { jsonFault } from '../../flags/json-flag.ts';
import { formatTypes, SchemaForms, typeOfValue } from './schema-forms.ts';

/** One `key=value`; a file that it names is read already. */
export type Given = { readonly key: string; readonly form: 'text' | 'json'; readonly text: string };

export type ParsedArguments = {
  readonly args: Record<string, unknown>;
  /** Values that cannot be converted to the type that the schema declares. */
  readonly faults: readonly string[];
  /** Names that the schema does not declare; `isAllowed` if it accepts other names. */
  readonly unknown: readonly { readonly text: string; readonly isAllowed: boolean }[];
};

/** Adds the given values to `base`, each converted to the type that the schema declares for it. */
export function parseArguments(
  base: Readonly<Record<string, unknown>>,
  given: readonly Given[],
  schema: JsonSchema,
): ParsedArguments {
  const input = new SchemaForms(schema);
  const args = structuredClone(base);
  const faults: string[] = [];
  for (const [key, values] of Map.groupBy(given, (it) => it.key)) {
    const path = pathOf(key, input);
    const wanted = path.reduce((at, name) => at.property(name), input);
    const parsed = parseValues(values, wanted);
    const fault = 'fault' in parsed ? parsed.fault : setValue(args, path, parsed.value);
    if (fault !== undefined) faults.push(`${key}: ${fault}`);
  }
  return { args, faults, unknown: unknownNames(args, input) };
}

type Parsed = { readonly value: unknown } | { readonly fault: string };

/** A declared name may contain dots; in any other name they lead into objects. */
function pathOf(key: string, input: SchemaForms): string[] {
  const steps = key.split('.');
  return input.names?.includes(key) || steps.includes('') ? [key] : steps;
}

/** Several values of one key make a list, where the schema accepts one. */
function parseValues(given: readonly Given[], wanted: SchemaForms): Parsed {
  const isList = wanted.types.has('array');
  if (given.length > 1 && !isList && wanted.types.size > 0) return { fault: 'given more than once' };
  const [only] = given;
  if (only && given.length === 1) {
    const parsed = parseValue(only, wanted);
    if (!isList || 'value' in parsed) return parsed;
  }
  const list: unknown[] = [];
  for (const it of given) {
    const whole = it.form === 'text' && it.text.trimStart().startsWith('[') ? parseJson(it.text) : undefined;
    const parsed = Array.isArray(whole?.value) ? whole : parseValue(it, wanted.items);
    if ('fault' in parsed) return parsed;
    if (parsed === whole) list.push(...(whole.value as unknown[]));
    else list.push(parsed.value);
  }
  return { value: list };
}

/** A text that is a valid string and also a valid value of another declared type becomes the other type: `5`, `true`. */
function parseValue({ form, text }: Given, wanted: SchemaForms): Parsed {
  const parsed = parseJson(text);
  if (form === 'json') return parsed ?? { fault: `not valid JSON: ${jsonFault(text)}` };
  const choice = wanted.choices.find((it) => typeof it !== 'object' && String(it) === text);
  if (choice !== undefined) return { value: choice };
  const { types } = wanted;
  if (types.size === 0) return parsed ?? { value: text };
  const isOther = parsed && typeof parsed.value !== 'string' && isOfType(parsed.value, types);
  const isExact = !Number.isInteger(parsed?.value) || Number.isSafeInteger(parsed?.value);
  if (isOther && isExact) return parsed;
  if (types.has('string')) return { value: text };
  if (isOther) return { fault: `${text} is too large for an exact number` };
  return { fault: `must be ${formatTypes(types)}, not ${formatValue(text)}` };
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function isOfType(value: unknown, types: ReadonlySet<string>): boolean {
  return types.has(typeOfValue(value)) || (types.has('integer') && Number.isInteger(value));
}

/** Sets one property, creating the objects on the way; returns what prevents it. */
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

function unknownNames(value: unknown, declared: SchemaForms, at = ''): ParsedArguments['unknown'] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => unknownNames(item, declared.items, `${at}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const { names, allowsOthers: isAllowed } = declared;
  return Object.entries(value).flatMap(([name, member]) => {
    if (!names || names.includes(name)) {
      return unknownNames(member, declared.property(name), at === '' ? name : `${at}.${name}`);
    }
    const closest = nearest(name, names);
    const accepted = names.length === 0 ? 'no arguments' : names.join(', ');
    const hint = closest === undefined ? ` (accepted: ${accepted})` : `; did you mean "${closest}"?`;
    return [{ text: `${at === '' ? '' : `${at}: `}${unknownText(name)}${hint}`, isAllowed }];
  });
}

export function unknownText(name: string): string {
  return `unknown argument "${name}"`;
}

/** A value as JSON, truncated for a message. */
export function formatValue(value: unknown): string {
  return truncate(jsonText(value), 60);
}
