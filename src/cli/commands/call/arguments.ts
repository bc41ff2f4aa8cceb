import { jsonText } from '../../../agent/results/tool-result.ts';
import { isRecord } from '../../../base/json-value.ts';
import { truncate } from '../../../base/text/display-text.ts';
import { nearest } from '../../../base/text/nearest.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { jsonFault } from '../../flags/json-flag.ts';
import { firstLine } from '../tools/tables.ts';
import {
  choicesOf,
  type Declared,
  declared,
  hasMembers,
  isChoice,
  isOfType,
  isOpen,
  itemOf,
  memberNames,
  memberOf,
  typesOf,
} from './declared.ts';

/** A `key=value` whose file, if it named one, is read. */
export type Given = { readonly key: string; readonly form: 'text' | 'json'; readonly text: string };

/** What is sent, what cannot be, what the schema has against the rest, and what may be a typo and is sent all the same. */
type Built = {
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
  return truncate(text, 60);
}

/** What a text stands for, or why it cannot be that. */
type Typed = { readonly value: unknown } | { readonly fault: string };

/** A text as the schema wants it. Where a text is as good as something else, `5` is a number and `true` is no text. */
function typedValue(text: string, declared: Declared): Typed {
  const choice = choicesOf(declared).find(
    (it) => it === text || (typeof it !== 'object' && String(it) === text),
  );
  if (choice !== undefined) return { value: choice };
  const types = typesOf(declared);
  const parsed = parse(text);
  if (types.size === 0) return { value: parsed ? parsed.value : text };
  const isOther = parsed && typeof parsed.value !== 'string' && isOfType(parsed.value, types);
  if (isOther && isExact(parsed.value)) return parsed;
  if (types.has('string')) return { value: text };
  if (isOther) return { fault: `${text} is too large to be kept exactly` };
  return { fault: `must be ${sayTypes(types)}, not ${JSON.stringify(truncate(text, LONGEST))}` };
}

/** The value of a JSON text; undefined if it is none. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** `a number or null`. */
export function sayTypes(types: ReadonlySet<string>): string {
  if (types.size === 0) return 'anything';
  return [...types].map((type) => NOUNS[type] ?? type).join(' or ');
}

/** `low, high`. */
export function sayChoices(choices: readonly unknown[]): string {
  return choices.map((it) => (typeof it === 'string' ? it : jsonText(it))).join(', ');
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a list',
  null: 'null',
};

/** Integers above 2^53 would reach the server as others. */
function isExact(value: unknown): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

const LONGEST = 60;

/** What is said of a name that a tool does not declare, and whether the tool says that it takes such. */
type UnknownName = { readonly text: string; readonly isTaken: boolean };

/** The names in an input that nothing declares, most likely typos; those within objects and lists too. */
function unknownNames(value: unknown, declared: Declared, at = ''): UnknownName[] {
  if (Array.isArray(value)) {
    const item = itemOf(declared);
    return value.flatMap((it, index) => unknownNames(it, item, `${at}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const names = memberNames(declared);
  const isTaken = isOpen(declared);
  return Object.entries(value).flatMap(([name, member]) => {
    const where = at === '' ? name : `${at}.${name}`;
    if (names.includes(name) || !hasMembers(declared)) {
      return unknownNames(member, memberOf(declared, name), where);
    }
    return [{ text: sayUnknown(name, at, names), isTaken }];
  });
}

function sayUnknown(name: string, at: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const takes = known.length === 0 ? 'nothing' : known.join(', ');
  const hint = meant === undefined ? ` (it takes ${takes})` : `; did you mean "${meant}"?`;
  return `${at === '' ? '' : `${at}: `}the tool declares no "${name}"${hint}`;
}

const MOST_LINES = 50;

/** What a tool requires and nobody named: a line each, with its type and what it is for; so many that one can read them. */
export function missingLines(named: ReadonlySet<string>, schema: JsonSchema): string[] {
  const input = declared(schema, schema);
  const required = Array.isArray(schema.required)
    ? schema.required.filter((it) => typeof it === 'string')
    : [];
  const missing = required.filter((name) => !named.has(name));
  const lines = missing.slice(0, MOST_LINES).map((name) => {
    const member = memberOf(input, name);
    const choices = choicesOf(member);
    const type = choices.length > 0 ? `one of ${sayChoices(choices)}` : sayTypes(typesOf(member));
    const what = member.forms.map(({ description }) => description).find((it) => typeof it === 'string');
    const text = typeof what === 'string' ? firstLine(what) : '';
    return `it needs ${name}: ${type}${text === '' ? '' : ` (${text})`}`;
  });
  const more = missing.length - lines.length;
  return more > 0 ? [...lines, `it needs ${more} more`] : lines;
}
