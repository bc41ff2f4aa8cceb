import { jsonText } from '../../agent/results/json-text.ts';
import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { jsonFault } from '../json-fault.ts';
import {
  choicesOf,
  type Declared,
  declared,
  isChoice,
  isOfType,
  itemOf,
  memberNames,
  memberOf,
  typesOf,
} from './declared.ts';
import { parse, sayChoices, sayTypes, type Typed, typedValue } from './typed-value.ts';
import { unknownNames } from './unknown-names.ts';

/** A `key=value` whose file, if it named one, is read. */
export type Given = { readonly key: string; readonly form: 'text' | 'json'; readonly text: string };

/** What is sent, what cannot be, what the schema has against the rest, and what may be a typo and is sent all the same. */
export type Built = {
  readonly args: Record<string, unknown>;
  readonly unreadable: readonly string[];
  readonly faults: readonly string[];
  readonly notes: readonly string[];
};

/** The arguments of a call. Names become members and nothing else, whatever they are. */
export function buildArguments(
  base: Readonly<Record<string, unknown>>,
  given: readonly Given[],
  schema: JsonSchema,
): Built {
  const input = declared(schema, schema);
  const args = structuredClone(base);
  const unreadable: string[] = [];
  for (const [key, its] of Map.groupBy(given, (it) => it.key)) {
    const path = pathOf(key, input);
    const value = givenValue(its, path.reduce(memberOf, input));
    const fault = 'fault' in value ? value.fault : put(args, path, value.value);
    if (fault !== undefined) unreadable.push(`${key}: ${fault}`);
  }
  const unknown = unknownNames(args, input);
  return {
    args,
    unreadable,
    faults: [
      ...unknown.filter(({ isTaken }) => !isTaken).map(({ text }) => text),
      ...wrongTypes(args, input),
    ],
    notes: unknown.filter(({ isTaken }) => isTaken).map(({ text }) => text),
  };
}

/** A name that is declared is that name; in any other, dots lead into objects. */
function pathOf(key: string, input: Declared): string[] {
  if (memberNames(input).includes(key)) return [key];
  const steps = key.split('.');
  return steps.includes('') ? [key] : steps;
}

function givenValue(given: readonly Given[], wanted: Declared): Typed {
  const [only] = given;
  const isList = typesOf(wanted).has('array');
  if (given.length > 1 && !isList && typesOf(wanted).size > 0) return { fault: 'it is given more than once' };
  if (only && given.length === 1) {
    const single = oneValue(only, wanted);
    if (!isList || 'value' in single) return single;
  }
  const items = given.map((it) => {
    const whole = it.form === 'text' && it.text.trimStart().startsWith('[') ? parse(it.text) : undefined;
    if (Array.isArray(whole?.value)) return { value: whole.value };
    const item = oneValue(it, itemOf(wanted));
    return 'fault' in item ? item : { value: [item.value] };
  });
  const fault = items.find((it) => 'fault' in it);
  return fault ?? { value: items.flatMap((it) => ('value' in it ? (it.value as unknown[]) : [])) };
}

function oneValue({ form, text }: Given, wanted: Declared): Typed {
  if (form === 'text') return typedValue(text, wanted);
  return parse(text) ?? { fault: `it is no JSON: ${jsonFault(text)}` };
}

/** Sets one member, making the objects on the way; gives what is in the way of that. */
function put(args: Record<string, unknown>, path: readonly string[], value: unknown): string | undefined {
  let at = args;
  for (const [depth, step] of path.slice(0, -1).entries()) {
    if (!Object.hasOwn(at, step)) define(at, step, {});
    const next = at[step];
    if (!isRecord(next) || Array.isArray(next)) return `"${path.slice(0, depth + 1).join('.')}" is no object`;
    at = next;
  }
  define(at, path.at(-1) as string, value);
  return undefined;
}

/** As JSON has it: `__proto__` is a name as any other. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function wrongTypes(args: Readonly<Record<string, unknown>>, input: Declared): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    const member = memberOf(input, name);
    const types = typesOf(member);
    if (!isOfType(value, types)) return [`${name}: must be ${sayTypes(types)}, not ${shown(value)}`];
    if (!isChoice(member) || typeof value === 'object' || choicesOf(member).includes(value)) return [];
    return [`${name}: must be one of ${sayChoices(choicesOf(member))}, not ${shown(value)}`];
  });
}

/** A value in few words. */
export function shown(value: unknown): string {
  const text = jsonText(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
