import { isRecord } from './json-value.ts';
import { truncate } from './text/display-text.ts';
import { didYouMean } from './text/nearest.ts';
import { redactText } from './text/redact.ts';

/** Validation of the value of an option; `what` completes "must be …" in the error message. */
export type Check = { readonly what: string; holds(value: unknown): boolean };

export const string: Check = { what: 'a string', holds: isString };
export const boolean: Check = { what: 'true or false', holds: (value) => typeof value === 'boolean' };
export const record: Check = { what: 'an object', holds: isRecord };
export const list: Check = { what: 'a list', holds: Array.isArray };
export const callback: Check = { what: 'a function', holds: (value) => typeof value === 'function' };
export const nonEmptyString: Check = {
  what: 'a non-empty string',
  holds: (value) => isString(value) && value !== '',
};
export const stringList: Check = { what: 'a list of strings', holds: (value) => isListOf(value, isString) };
export const stringMap: Check = {
  what: 'an object whose values are strings',
  holds: (value) => isRecord(value) && Object.values(value).every(isString),
};
export const positiveNumber: Check = {
  what: 'a number above 0',
  holds: (value) => typeof value === 'number' && value > 0,
};

export function numberFrom(min: number): Check {
  return {
    what: `a number, ${min} or more`,
    holds: (value) => typeof value === 'number' && Number.isFinite(value) && value >= min,
  };
}

export function countFrom(min: number): Check {
  return {
    what: `a whole number, ${min} or more`,
    holds: (value) => Number.isInteger(value) && Number(value) >= min,
  };
}

export function oneOf(...values: readonly string[]): Check {
  return {
    what: `${values.length > 1 ? 'one of ' : ''}${values.map((word) => `"${word}"`).join(', ')}`,
    holds: (value) => values.includes(value as string),
  };
}

export function listOf(values: readonly string[]): Check {
  const one = oneOf(...values);
  return { what: `a list, each ${one.what}`, holds: (value) => isListOf(value, one.holds) };
}

export function either(...checks: readonly Check[]): Check {
  return {
    what: checks.map((check) => check.what).join(', or '),
    holds: (value) => checks.some((check) => check.holds(value)),
  };
}

export function isListOf(value: unknown, holds: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(holds);
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/**
 * Describes the first invalid option: an unknown name, with the closest known one, or an invalid value. An undefined value
 * counts as not given. `label` is the option's name in the message.
 */
export function optionFault(
  options: object,
  checks: Readonly<Record<string, Check>>,
  label: (name: string) => string = (name) => `"${name}"`,
): string | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) return `${label(name)} is not an option${didYouMean(name, Object.keys(checks))}`;
    if (!check.holds(value)) return `${label(name)} must be ${check.what}; it is ${describeValue(value)}`;
  }
  return undefined;
}

/** The options without those that are null, which count as not given. */
export function withoutNull<T>(options: T): T {
  if (!isRecord(options)) return options;
  const entries = Object.entries(options);
  if (entries.every(([, value]) => value !== null)) return options;
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as T;
}

/** Describes a value for an error message, without the values of objects: they may be secrets. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value))
    return `a list of ${[...new Set(value.map((item) => typeof item))].join(', ') || 'nothing'}`;
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${typeof member}`);
    return `an object { ${members.slice(0, 8).join(', ')}${members.length > 8 ? ', …' : ''} }`;
  }
  if (typeof value === 'string') return JSON.stringify(truncate(redactText(value), 60));
  return typeof value === 'function' ? 'a function' : String(value);
}
