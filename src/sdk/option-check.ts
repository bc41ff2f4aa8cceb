import { isRecord } from '../base/is-record.ts';

/** A claim about an option's value, in words a person reads after "it must be". */
export type Check = { readonly what: string; holds(value: unknown): boolean };

export const text: Check = { what: 'a string', holds: (value) => typeof value === 'string' };
export const flag: Check = { what: 'true or false', holds: (value) => typeof value === 'boolean' };
export const callback: Check = { what: 'a function', holds: (value) => typeof value === 'function' };
export const abortController: Check = {
  what: 'an AbortController',
  holds: (value) => isRecord(value) && value.signal instanceof AbortSignal,
};
export const record: Check = { what: 'an object', holds: isRecord };
export const texts: Check = { what: 'a list of strings', holds: (value) => isListOf(value, isText) };
export const anything: Check = { what: 'anything', holds: () => true };

export const textMap: Check = {
  what: 'an object whose values are strings',
  holds: (value) => isRecord(value) && Object.values(value).every(isText),
};

export const environment: Check = {
  what: 'an object whose values are strings or undefined',
  holds: (value) => isRecord(value) && Object.values(value).every((it) => it === undefined || isText(it)),
};

/** Names that are joined with commas on their way. */
export const names: Check = {
  what: 'a list of strings without commas',
  holds: (value) => isListOf(value, (name) => isText(name) && !name.includes(',')),
};

/** Skills become rules, so their names may hold nothing that a rule is made of. */
export const skillNames: Check = {
  what: 'a list of skill names without commas and parentheses',
  holds: (value) => isListOf(value, (name) => isText(name) && !/[(),]/.test(name)),
};

/** Rules are joined with commas on their way: one that is not whole could smuggle in another. */
export const toolRules: Check = {
  what: 'a list of tool rules, each a name or a name with one balanced pair of parentheses at its end',
  holds: (value) => isListOf(value, (rule) => isText(rule) && isWholeRule(rule)),
};

/** Names without the leading dashes; `null` for a flag without a value. */
export const flagMap: Check = {
  what: 'an object from flag names (letters, digits, dashes) to strings or null',
  holds: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, it]) => /^[a-zA-Z][a-zA-Z0-9-]*$/.test(name) && (it === null || isText(it)),
    ),
};

export function numberFrom(least: number): Check {
  return {
    what: `a number, ${least} or more`,
    holds: (value) => typeof value === 'number' && Number.isFinite(value) && value >= least,
  };
}

export function countFrom(least: number): Check {
  return {
    what: `a whole number, ${least} or more`,
    holds: (value) => Number.isInteger(value) && Number(value) >= least,
  };
}

export function oneOf(...words: readonly string[]): Check {
  return {
    what: `one of ${words.map((word) => `"${word}"`).join(', ')}`,
    holds: (value) => words.includes(value as string),
  };
}

export function listOf(words: readonly string[]): Check {
  const one = oneOf(...words);
  return { what: `a list, each ${one.what}`, holds: (value) => isListOf(value, one.holds) };
}

export function either(...checks: readonly Check[]): Check {
  return {
    what: checks.map((check) => check.what).join(', or '),
    holds: (value) => checks.some((check) => check.holds(value)),
  };
}

/** An object whose `type` is one of these. */
export function kindOf(...types: readonly string[]): Check {
  const names = types.map((type) => `"${type}"`).join(' or ');
  return {
    what: `an object with type ${names}`,
    holds: (value) => isRecord(value) && types.includes(value.type as string),
  };
}

/** `Name` or `Name(content)`, where the parenthesis that opens after the name closes at the very end. */
function isWholeRule(rule: string): boolean {
  const open = rule.indexOf('(');
  if (open === -1) return !/[),]/.test(rule);
  if (/[),]/.test(rule.slice(0, open))) return false;
  let depth = 0;
  for (let at = open; at < rule.length; at++) {
    if (rule[at] === '(') depth++;
    else if (rule[at] === ')' && --depth === 0) return at === rule.length - 1;
  }
  return false;
}

function isListOf(value: unknown, holds: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(holds);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
