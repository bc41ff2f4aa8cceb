import { expect, test } from 'vitest';
import { officialExports, walkTypes } from '../../scripts/type-walk.ts';

/** Intended differences, with the reason; a type without differences must not be listed. */
const DIFFERENCES: Readonly<Record<string, string>> = {};

const rows = new Map((await walkTypes('sdk-tools')).map((row) => [row.name, row]));

test('the published types of the built-in tools have the known number of exports', () => {
  expect(officialExports('sdk-tools')).toHaveLength(90);
});

test.each(officialExports('sdk-tools').map(({ name }) => name))(
  '%s is assignable to the official type and back, and has the same members',
  (name) => {
    const row = rows.get(name);
    const isSame = row?.present && row.toOfficial && row.fromOfficial && row.complete;
    expect(isSame, row?.note).toBe(!Object.hasOwn(DIFFERENCES, name));
  },
);

test('the listed differences name exports that exist', () => {
  expect(Object.keys(DIFFERENCES).filter((name) => !rows.has(name))).toEqual([]);
});
