import { expect, test } from 'vitest';
import { isPermissionUpdate } from '../../src/permissions/ask.ts';
import { applyUpdates, EMPTY_RULES, memoryRuleStore, modeOf } from '../../src/permissions/rule-store.ts';
import type { PermissionUpdate } from '../../src/protocol/permission.ts';
import { rule } from './situation.ts';

const set = {
  ...EMPTY_RULES,
  rules: [rule('Bash', 'allow', 'session'), rule('Read', 'allow', 'cliArg'), rule('Edit', 'deny', 'session')],
};
const rules = (type: 'addRules' | 'replaceRules' | 'removeRules', ...names: string[]): PermissionUpdate => ({
  type,
  rules: names.map((toolName) => ({ toolName })),
  behavior: 'allow',
  destination: 'session',
});
const names = (update: PermissionUpdate) => applyUpdates(set, [update]).set.rules.map(({ tool }) => tool);

test('adds, replaces and removes rules only in the destination', () => {
  expect(names(rules('addRules', 'Glob', 'Glob', 'Bash'))).toEqual(['Bash', 'Read', 'Edit', 'Glob']);
  expect(names(rules('replaceRules', 'Glob'))).toEqual(['Read', 'Edit', 'Glob']);
  expect(names(rules('replaceRules'))).toEqual(['Read', 'Edit']);
  expect(names(rules('removeRules', 'Bash', 'Read', 'Edit'))).toEqual(['Read', 'Edit']);
  expect(set.rules).toHaveLength(3);
});

test('reports an invalid rule, adds the others and replaces nothing', () => {
  const added = applyUpdates(set, [rules('addRules', 'Glob', '*')]);
  expect(added.set.rules).toHaveLength(4);
  expect(added.diagnostics).toMatchObject([{ code: 'RULE_TOO_WIDE', source: 'session' }]);
  expect(applyUpdates(set, [rules('replaceRules', 'Glob', '*')]).set).toBe(set);
});

test('directories are kept by destination', async () => {
  const store = memoryRuleStore();
  await store.apply([
    { type: 'addDirectories', directories: ['/a', '/b', '/a'], destination: 'session' },
    { type: 'addDirectories', directories: ['/a'], destination: 'localSettings' },
    { type: 'removeDirectories', directories: ['/a'], destination: 'session' },
  ]);
  expect(store.current().directories).toEqual([
    { path: '/b', source: 'session' },
    { path: '/a', source: 'localSettings' },
  ]);
});

test('uses the mode of the source with the highest precedence', async () => {
  const store = memoryRuleStore();
  expect(modeOf(store.current())).toBe('default');
  await store.apply([{ type: 'setMode', mode: 'plan', destination: 'userSettings' }]);
  expect(modeOf(store.current())).toBe('plan');
  await store.apply([{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]);
  expect(modeOf(store.current())).toBe('acceptEdits');
});

test('the memory store applies updates and returns invalid rules', async () => {
  const store = memoryRuleStore();
  expect(await store.apply([rules('addRules', 'Bash', 'mcp__')])).toMatchObject([{ code: 'RULE_SYNTAX' }]);
  expect(store.current().rules).toEqual([rule('Bash', 'allow', 'session')]);
});

test.each([
  [rules('addRules', 'Bash'), true],
  [{ type: 'addDirectories', directories: ['/a'], destination: 'session' }, true],
  [{ type: 'addDirectories', directories: [1], destination: 'session' }, false],
  [{ type: 'setMode', mode: 'chaos', destination: 'session' }, false],
  [{ type: 'setMode', mode: 'plan', destination: 'policySettings' }, false],
  [{ ...rules('addRules'), rules: [{ toolName: 'Bash', ruleContent: 1 }] }, false],
  [{ type: 'other', destination: 'session' }, false],
  [null, false],
])('isPermissionUpdate(%j): %s', (value, expected) => {
  expect(isPermissionUpdate(value)).toBe(expected);
});
