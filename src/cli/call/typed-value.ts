import { jsonText } from '../../agent/results/json-text.ts';
import { choicesOf, type Declared, isOfType, typesOf } from './declared.ts';

/** What a text stands for, or why it cannot be that. */
export type Typed = { readonly value: unknown } | { readonly fault: string };

/** A text as the schema wants it. Where a text is as good as something else, `5` is a number and `true` is no text. */
export function typedValue(text: string, declared: Declared): Typed {
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
  return { fault: `must be ${sayTypes(types)}, not ${JSON.stringify(short(text))}` };
}

/** The value of a JSON text; undefined if it is none. */
export function parse(text: string): { readonly value: unknown } | undefined {
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

function short(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
