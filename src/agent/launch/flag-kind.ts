import { isRecord } from '../../base/is-record.ts';

/** How many values a flag takes: none, one (the last counts), or any number over all its uses. */
export type FlagTakes = 'none' | 'one' | 'many';

/** What a flag's values are; `what` follows "it takes" in a fault, so that no value has to be shown. */
export type FlagKind<T> = {
  readonly takes: FlagTakes;
  readonly what: string;
  /** Undefined if the text is none of these. */
  read(text: string, form: ValueForm): T | undefined;
};

/** `--name=value` is written by programs, `--name value` also by people, who put blanks between the items of a list. */
export type ValueForm = 'joined' | 'apart';

export const on: FlagKind<boolean> = { takes: 'none', what: 'no value', read: () => true };

export const text: FlagKind<string> = { takes: 'one', what: 'a text', read: (value) => value };

export const number: FlagKind<number> = {
  takes: 'one',
  what: 'a number, 0 or more',
  read: (value) =>
    value.trim() !== '' && Number(value) >= 0 && Number.isFinite(+value) ? +value : undefined,
};

/** A whole number from `least` on. */
export function count(least: number): FlagKind<number> {
  return {
    takes: 'one',
    what: `a whole number, ${least} or more`,
    read: (value) => (/^\d+$/.test(value.trim()) && Number(value) >= least ? Number(value) : undefined),
  };
}

export function oneOf<const T extends string>(...words: readonly T[]): FlagKind<T> {
  return {
    takes: 'one',
    what: words.length > 1 ? `one of ${words.join(', ')}` : `only ${words[0]}`,
    read: (value) => words.find((word) => word === value),
  };
}

export const jsonObject: FlagKind<Record<string, unknown>> = {
  takes: 'one',
  what: 'a JSON object',
  read: parseObject,
};

/** Each value is one item, whatever it contains. */
export const repeated: FlagKind<string[]> = { takes: 'many', what: 'a text', read: (value) => [value] };

/** Each value is a list: items stand between commas, or blanks if a person wrote it. */
export const list: FlagKind<string[]> = {
  takes: 'many',
  what: 'a list',
  read: (value, form) => splitList(value, form === 'joined' ? /,/ : /[,\s]/),
};

/** The object that a JSON text is, or undefined. */
export function parseObject(value: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** What stands in parentheses belongs to a rule, separators included. */
function splitList(value: string, separator: RegExp): string[] {
  const items: string[] = [''];
  let depth = 0;
  for (const character of value) {
    if (character === '(') depth++;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && separator.test(character)) items.push('');
    else items[items.length - 1] += character;
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
