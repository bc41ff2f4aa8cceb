import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { isRecord } from '../../../base/json-value.ts';
import type { JsonSchema } from '../../../protocol/mcp.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { jsonFault } from '../../flags/flag-values.ts';
import { SchemaForms, typeOfValue } from './schema-forms.ts';

/** The words after the tool's name, with stdin and files read. */
export type Input = {
  /** A JSON object from a word or stdin; the given values are added to it. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly given: readonly Given[];
  readonly faults: readonly string[];
};

/** One argument: `text` (`key=…`) is converted by the tool's schema, `value` (`key:=json`) is used as is. */
type Given = { readonly key: string } & ({ readonly text: string } | { readonly value: unknown });

/** Parses `{…}`, `-`, `key=value`, `key:=json`, `key=@file` and `key:=@file`. */
export async function readArguments(words: readonly string[], stdin: NodeJS.ReadableStream): Promise<Input> {
  const given: Given[] = [];
  const faults: string[] = [];
  let base: Input['base'] | undefined;
  for (const word of words) {
    try {
      if (word !== '-' && !word.trimStart().startsWith('{')) given.push(await readAssignment(word));
      else if (base)
        throw new Error('only one JSON object or - is allowed; pass further arguments as key=value');
      else base = await readObject(word, stdin);
    } catch (cause) {
      faults.push(messageOf(cause));
    }
  }
  return { base: base ?? {}, given, faults };
}

const ASSIGNMENT = /^(?!:=)(?<key>[^=]+?)(?<json>:)?=(?<file>@)?(?<rest>.*)$/s;

async function readAssignment(word: string): Promise<Given> {
  const { key, json, file, rest = '' } = ASSIGNMENT.exec(word)?.groups ?? {};
  if (key === undefined) {
    throw new Error(`argument ${JSON.stringify(word)} is not key=value, key:=json or a JSON object`);
  }
  const text = file ? await readFileText(key, rest) : rest;
  return json ? { key, value: parseJson(key, text) } : { key, text };
}

async function readFileText(key: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Error(`${key}: cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

async function readObject(word: string, stdin: NodeJS.ReadableStream): Promise<Record<string, unknown>> {
  const source = word === '-' ? 'stdin' : 'the JSON argument';
  const value = parseJson(source, word === '-' ? await textOf(stdin) : word);
  if (!isRecord(value)) throw new Error(`${source} is not a JSON object`);
  return value;
}

function parseJson(source: string, text: string): unknown {
  const fault = jsonFault(text);
  if (fault !== undefined) throw new Error(`${source} is not valid JSON: ${fault}`);
  return JSON.parse(text);
}

type ConvertedArguments = {
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
