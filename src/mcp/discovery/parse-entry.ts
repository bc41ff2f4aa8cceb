import { isRecord } from '../../base/json-value.ts';

/** How to tell a good member, and what a good one is called. */
type MemberRule = readonly [isFine: (value: unknown) => boolean, what: string];

/** Members that may be absent, by name. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

const isString = (value: unknown): boolean => typeof value === 'string';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';

export const TEXT: MemberRule = [isString, 'a string'];
export const FLAG: MemberRule = [isBoolean, 'true or false'];
export const OBJECT: MemberRule = [isRecord, 'an object'];
export const NUMBER: MemberRule = [(value) => typeof value === 'number' && value >= 0, 'a number'];
export const ICONS: MemberRule = [
  (value) => Array.isArray(value) && value.every((it) => isRecord(it) && typeof it.src === 'string'),
  'a list of icons, each with its "src"',
];

/**
 * The same object if all is well; else a copy without the members that are not as they should be, and what is wrong
 * with each. One that is `null` is absent: many write their nothings so.
 */
export function dropInvalidMembers(
  item: Record<string, unknown>,
  rules: MemberRules,
  within = '',
): { readonly value: Record<string, unknown>; readonly repairs: readonly string[] } {
  const bad = new Map<string, string | undefined>();
  for (const [name, [isFine, what]] of Object.entries(rules)) {
    if (!Object.hasOwn(item, name) || item[name] === undefined || isFine(item[name])) continue;
    bad.set(name, item[name] === null ? undefined : `"${within}${name}" is not ${what} and was left out`);
  }
  if (bad.size === 0) return { value: item, repairs: [] };
  const value = Object.fromEntries(Object.entries(item).filter(([name]) => !bad.has(name)));
  return { value, repairs: [...bad.values()].filter((fault) => fault !== undefined) };
}

/** Real names have a few dozen characters; whatever is made of one takes its time with every character. */
const MAX_NAME_LENGTH = 1_024;

/** An entry that has a name to be called by and is JSON one can read, or why it is none. */
export function parseNamed(
  value: unknown,
  room: SizeBudget | undefined,
):
  | { readonly value: Readonly<Record<string, unknown>>; readonly name: string }
  | { name?: string; fault: string } {
  if (!isRecord(value)) return { fault: 'it is no object' };
  const named = readName(value.name);
  if ('fault' in named) return named;
  const fault = jsonError(value, room);
  return fault === undefined ? { value, name: named.name } : { name: named.name, fault };
}

function readName(name: unknown): { readonly name: string } | { name?: string; fault: string } {
  if (typeof name !== 'string' || name === '') return { fault: '"name" must be a non-empty string' };
  return name.length > MAX_NAME_LENGTH
    ? { name, fault: `"name" is longer than ${MAX_NAME_LENGTH} characters` }
    : { name };
}
/** Deeper definitions are refused, because code that walks them later would overflow the stack. */
const MAX_DEPTH = 200;
/** So many values in one definition are no definition any more: the largest known has three thousand. */
const MAX_VALUES = 100_000;

/** How much may still be taken of a list, in values and in characters; below 0 it was too much. */
export type SizeBudget = { values: number; text: number };

/** Why a value cannot be carried on as JSON; undefined if it can. What it holds is taken off the room. */
export function jsonError(
  value: unknown,
  room: SizeBudget = { values: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY },
): string | undefined {
  const walk = { left: MAX_VALUES, room, fault: undefined };
  visit(value, 0, walk);
  return walk.fault;
}

type Walk = { left: number; readonly room: SizeBudget; fault: string | undefined };

/** Every tool of every server comes through here: nothing is made on the way. */
function visit(value: unknown, depth: number, walk: Walk): void {
  if (typeof value === 'string') walk.room.text -= value.length;
  if (typeof value === 'bigint') walk.fault = 'it holds a number that JSON cannot';
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) walk.fault = `it nests deeper than ${MAX_DEPTH} levels`;
  else if (Array.isArray(value)) {
    for (let at = 0; at < value.length && take(walk); at++) visit(value[at], depth + 1, walk);
  } else {
    const members = value as Record<string, unknown>;
    for (const name in members) {
      walk.room.text -= name.length;
      if (!take(walk)) return;
      visit(members[name], depth + 1, walk);
    }
  }
}

function take(walk: Walk): boolean {
  walk.room.values--;
  if (--walk.left < 0) walk.fault ??= `it holds more than ${MAX_VALUES} values`;
  if (walk.room.values < 0 || walk.room.text < 0) walk.fault ??= 'there is no room for it';
  return walk.fault === undefined;
}
