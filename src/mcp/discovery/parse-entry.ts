import { isRecord } from '../../base/json-value.ts';

/** A check and its description for messages. */
type MemberRule = readonly [isFine: (value: unknown) => boolean, what: string];

/** Checks of optional members, by name. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

/** The checks that several kinds of entries share. */
export const RULES = {
  text: [(value) => typeof value === 'string', 'a string'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  object: [isRecord, 'an object'],
  number: [(value) => typeof value === 'number' && value >= 0, 'a number'],
  icons: [
    (value) => Array.isArray(value) && value.every((it) => isRecord(it) && typeof it.src === 'string'),
    'a list of icons, each with its "src"',
  ],
} as const satisfies MemberRules;

/**
 * Returns the same object if all members are valid, else a copy without the invalid ones and a message for each. A
 * `null` member counts as absent, without a message.
 */
export function dropInvalidMembers(
  item: Record<string, unknown>,
  rules: MemberRules,
  within = '',
): { readonly value: Record<string, unknown>; readonly repairs: readonly string[] } {
  const bad = new Map<string, string | undefined>();
  for (const [name, [isFine, what]] of Object.entries(rules)) {
    if (!Object.hasOwn(item, name) || item[name] === undefined || isFine(item[name])) continue;
    bad.set(name, item[name] === null ? undefined : `"${within}${name}" is not ${what} and was removed`);
  }
  if (bad.size === 0) return { value: item, repairs: [] };
  const value = Object.fromEntries(Object.entries(item).filter(([name]) => !bad.has(name)));
  return { value, repairs: [...bad.values()].filter((fault) => fault !== undefined) };
}

/** Real names have a few dozen characters; processing time grows with the length. */
const MAX_NAME_LENGTH = 1_024;

/** An entry with a valid name and a bounded JSON value, or why it is invalid. */
export function parseNamed(
  value: unknown,
  room: SizeBudget | undefined,
):
  | { readonly value: Readonly<Record<string, unknown>>; readonly name: string }
  | { name?: string; fault: string } {
  if (!isRecord(value)) return { fault: 'not an object' };
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
/** Maximum number of values in one definition; the largest known has three thousand. */
const MAX_VALUES = 100_000;

/** The values and characters that may still be read from a list; negative if exceeded. */
export type SizeBudget = { values: number; text: number };

/** Why a value cannot be passed on as JSON; undefined if it can. Subtracts its size from the budget. */
export function jsonError(
  value: unknown,
  room: SizeBudget = { values: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY },
): string | undefined {
  const walk = { left: MAX_VALUES, room, fault: undefined };
  visit(value, 0, walk);
  return walk.fault;
}

type Walk = { left: number; readonly room: SizeBudget; fault: string | undefined };

/** Runs for every tool of every server, so it allocates nothing. */
function visit(value: unknown, depth: number, walk: Walk): void {
  if (typeof value === 'string') walk.room.text -= value.length;
  if (typeof value === 'bigint') walk.fault = 'contains a bigint, which JSON cannot represent';
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) walk.fault = `nested deeper than ${MAX_DEPTH} levels`;
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
  if (--walk.left < 0) walk.fault ??= `contains more than ${MAX_VALUES} values`;
  if (walk.room.values < 0 || walk.room.text < 0) walk.fault ??= 'exceeds the size limit of the list';
  return walk.fault === undefined;
}
