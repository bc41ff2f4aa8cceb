import { expect, test } from 'vitest';
import { TYPE_DIFFERENCES, type TypeComparison } from '../../scripts/type-differences.ts';
import { officialExports, programErrors, type TypeWalkRow, walkTypes } from '../../scripts/type-walk.ts';

const COMPARISONS: readonly TypeComparison[] = ['toOfficial', 'fromOfficial', 'complete'];

const rows = new Map((await walkTypes()).map((row) => [row.name, row]));
const rowOf = (name: string) => rows.get(name) as TypeWalkRow;

test('the published types of the official package have the known number of exports', () => {
  const kinds = Map.groupBy(officialExports(), ({ kind }) => kind);
  const counts = Object.fromEntries([...kinds].map(([kind, list]) => [kind, list.length]));
  expect(counts).toEqual({ type: 225, interface: 8, function: 21, const: 9, class: 2 });
});

test('every export of the official package is present', () => {
  expect([...rows.values()].filter(({ present }) => !present).map(({ name }) => name)).toEqual([]);
});

test('the listed differences name exports that exist', () => {
  expect(Object.keys(TYPE_DIFFERENCES).filter((name) => !rows.has(name))).toEqual([]);
});

test.each(officialExports().map(({ name }) => name))('%s has a compatible type', (name) => {
  const row = rowOf(name);
  const failed = COMPARISONS.filter((comparison) => !row[comparison]);
  expect(failed, row.note).toEqual(COMPARISONS.filter((comparison) => TYPE_DIFFERENCES[name]?.[comparison]));
});

test.each(['ours', 'official'] as const)('a typical program compiles with the types: %s', async (types) => {
  const program = new URL('fixtures/typical-program.ts', import.meta.url);
  expect(await programErrors(program, types)).toEqual([]);
});
