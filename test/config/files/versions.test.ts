import { expect, test } from 'vitest';
import { MIGRATIONS, type Migration, migrate } from '../../../src/config/files/versions.ts';

const STEPS: readonly Migration[] = [
  ({ old, ...rest }) => ({ ...rest, middle: old }),
  ({ middle, ...rest }) => ({ ...rest, new: middle }),
];

test.each([
  ['without a version', { old: 1, other: 2 }, { version: 3, new: 1, other: 2 }],
  ['of the first version', { version: 1, old: 1 }, { version: 3, new: 1 }],
  ['of the second', { version: 2, middle: 1 }, { version: 3, new: 1 }],
])('a file %s goes every step to the newest', (_, value, expected) => {
  expect(migrate(value, STEPS)).toEqual({ kind: 'current', value: expected, isChanged: true });
});

test('a file of the newest version is left as it is', () => {
  const value = { version: 3, new: 1 };
  expect(migrate(value, STEPS)).toEqual({ kind: 'current', value, isChanged: false });
});

test.each([
  [4, 'it is of version 4, and only versions up to 3 are known here; update toolplane'],
  ['3', 'its "version" is no whole number from 1 to 3'],
  [0, 'its "version" is no whole number from 1 to 3'],
  [1.5, 'its "version" is no whole number from 1 to 3'],
  [null, 'its "version" is no whole number from 1 to 3'],
])('the version %j is not known', (version, fault) => {
  expect(migrate({ version }, STEPS)).toEqual({ kind: 'unknown', fault });
});

test('files of today are of the first version', () => {
  expect(Object.values(MIGRATIONS).map((steps) => steps.length + 1)).toEqual([1, 1, 1, 1]);
  expect(migrate({ a: 1 }, MIGRATIONS.settings)).toEqual({
    kind: 'current',
    value: { a: 1 },
    isChanged: false,
  });
});
