import { isRecord } from '../../base/is-record.ts';

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
export function cleanMembers(
  item: Record<string, unknown>,
  rules: MemberRules,
  within = '',
): { readonly value: Record<string, unknown>; readonly mended: readonly string[] } {
  const bad = new Map<string, string | undefined>();
  for (const [name, [isFine, what]] of Object.entries(rules)) {
    if (!Object.hasOwn(item, name) || item[name] === undefined || isFine(item[name])) continue;
    bad.set(name, item[name] === null ? undefined : `"${within}${name}" is not ${what} and was left out`);
  }
  if (bad.size === 0) return { value: item, mended: [] };
  const value = Object.fromEntries(Object.entries(item).filter(([name]) => !bad.has(name)));
  return { value, mended: [...bad.values()].filter((fault) => fault !== undefined) };
}
