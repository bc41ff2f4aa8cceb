import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readInventory } from '../../../src/config/write/inventory.ts';
import { addToList, removeFromList } from '../../../src/config/write/write-settings.ts';
import { configPlace } from '../config-place.ts';

const ALLOW = ['permissions', 'allow'];

test('rules are added to what is there, once, comments kept', () => {
  const { project, home, world, write } = configPlace();
  const path = write(
    join(project, '.toolplane', 'settings.json'),
    '{\n  "permissions": {\n    "allow": ["Read"], // ours\n  },\n}\n',
  );
  expect(addToList(world(), path, ALLOW, ['Read', 'Bash(ls:*)', 'Bash(ls:*)'])).toEqual({
    path,
    changed: ['Bash(ls:*)'],
    isNew: false,
    before: { permissions: { allow: ['Read'] } },
    after: { permissions: { allow: ['Read', 'Bash(ls:*)'] }, version: 1 },
  });
  expect(readFileSync(path, 'utf8')).toBe(
    '{\n  "permissions": {\n    "allow": ["Read", "Bash(ls:*)"], // ours\n  },\n  "version": 1,\n}\n',
  );
  expect(readInventory(home).files).toEqual([
    { path, isCreated: false, servers: {}, lists: { 'permissions.allow': ['Bash(ls:*)'] }, values: {} },
  ]);
  expect(addToList(world(), path, ALLOW, ['Read'])).toMatchObject({ changed: [] });
});

test('a file that is not there is made: for all in a project, for the person where it is theirs', () => {
  const { project, home, world } = configPlace();
  const paths = [
    join(project, '.toolplane', 'settings.local.json'),
    join(project, '.toolplane', 'settings.json'),
    join(home, 'settings.json'),
  ];
  const isNew = paths.map((path) => addToList(world(), path, ALLOW, ['Read']).isNew);
  expect(isNew).toEqual([true, true, true]);
  expect(paths.map((it) => statSync(it).mode & 0o777)).toEqual([0o600, 0o644, 0o600]);
  expect(JSON.parse(readFileSync(paths[2] as string, 'utf8'))).toEqual({
    version: 1,
    permissions: { allow: ['Read'] },
  });
  expect(readInventory(home).files.map((it) => it.path)).toEqual([
    join(project, '.toolplane', '.gitignore'),
    join(project, '.toolplane', 'settings.json'),
    join(project, '.toolplane', 'settings.local.json'),
  ]);
});

test('what is taken out of a list is ours no more', () => {
  const { project, home, world } = configPlace();
  const path = join(project, '.toolplane', 'settings.json');
  addToList(world(), path, ALLOW, ['a', 'b', 'c', 'd']);
  expect(removeFromList(world(), path, ALLOW, ['d', 'b', 'x'])).toMatchObject({
    changed: ['d', 'b'],
    after: { permissions: { allow: ['a', 'c'] } },
  });
  expect(readInventory(home).files.at(-1)?.lists).toEqual({ 'permissions.allow': ['a', 'c'] });
  expect(removeFromList(world(), path, ['permissions', 'deny'], ['x'])).toMatchObject({ changed: [] });
});

test('what is no list is refused', () => {
  const { project, world, write } = configPlace();
  const path = write(join(project, '.toolplane', 'settings.json'), '{"permissions": {"allow": "Read"}}');
  expect(() => addToList(world(), path, ALLOW, ['x'])).toThrow('"permissions.allow" is no list');
  expect(readFileSync(path, 'utf8')).toBe('{"permissions": {"allow": "Read"}}');
});
