import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editText } from '../../../src/config/files/edit-text.ts';
import { parseJsonc } from '../../../src/config/files/parse-jsonc.ts';
import { permissionEdits } from '../../../src/config/settings/permission-edits.ts';
import { parseRule, ruleOf, ruleText } from '../../../src/permissions/rule.ts';
import type { PermissionUpdate } from '../../../src/protocol/permission.ts';

const absolute = (path: string) => (path.startsWith('/') ? path : `/w/${path}`);
const target = { file: 'target', absolute } as const;
const other = { file: 'other', absolute } as const;
const rules = (type: 'addRules' | 'replaceRules' | 'removeRules', ...texts: string[]): PermissionUpdate => ({
  type,
  behavior: 'allow',
  destination: 'localSettings',
  rules: texts.map((text) => {
    const [, toolName = '', ruleContent] = /^([^(]*)(?:\((.*)\))?$/.exec(text) ?? [];
    return { toolName, ...(ruleContent !== undefined && { ruleContent }) };
  }),
});
const directories = (type: 'addDirectories' | 'removeDirectories', ...paths: string[]): PermissionUpdate => ({
  type,
  directories: paths,
  destination: 'localSettings',
});
const mode: PermissionUpdate = { type: 'setMode', mode: 'plan', destination: 'localSettings' };

test.each<[string, object, PermissionUpdate[], object]>([
  ['a first rule', {}, [rules('addRules', 'Bash(ls)')], { allow: ['Bash(ls)'] }],
  ['one more', { allow: ['A'], deny: ['D'] }, [rules('addRules', 'B')], { allow: ['A', 'B'], deny: ['D'] }],
  [
    'one that is there',
    { allow: ['Bash( ls )'] },
    [rules('addRules', 'Bash(ls)')],
    { allow: ['Bash( ls )'] },
  ],
  ['the same twice', {}, [rules('addRules', 'A', 'A')], { allow: ['A'] }],
  ['one that is none', { allow: ['A'] }, [rules('addRules', '*', 'B')], { allow: ['A', 'B'] }],
  ['another instead', { allow: ['A', 'B'] }, [rules('replaceRules', 'B', 'C')], { allow: ['B', 'C'] }],
  [
    'none instead, since one is faulty',
    { allow: ['A'] },
    [rules('replaceRules', 'B', '*')],
    { allow: ['A'] },
  ],
  ['one less', { allow: ['A', 'B', ' A '] }, [rules('removeRules', 'A')], { allow: ['B'] }],
  ['one less of none', {}, [rules('removeRules', 'A')], {}],
  ['a mode', { defaultMode: 'default' }, [mode], { defaultMode: 'plan' }],
  [
    'directories',
    { additionalDirectories: ['a'] },
    [directories('addDirectories', '/w/a', '/b')],
    { additionalDirectories: ['a', '/b'] },
  ],
  [
    'fewer directories',
    { additionalDirectories: ['a', '/b', 1] },
    [directories('removeDirectories', '/w/a', '/c')],
    { additionalDirectories: ['/b', 1] },
  ],
  [
    'several changes',
    { allow: ['A'] },
    [rules('addRules', 'B'), rules('removeRules', 'A'), rules('addRules', 'C')],
    { allow: ['B', 'C'] },
  ],
])('%s', (_, permissions, updates, expected) => {
  const text = JSON.stringify({ model: 'm', permissions }, null, 2);
  const { after, edits } = permissionEdits({ model: 'm', permissions }, updates, target);
  expect(after).toEqual({ model: 'm', permissions: expected });
  expect(JSON.parse(editText(text, edits))).toEqual(after);
});

test('only removes from files that are not the target', () => {
  const value = { permissions: { allow: ['A', 'B'], additionalDirectories: ['/x'] } };
  const all = [rules('addRules', 'C'), mode, directories('addDirectories', '/y')];
  expect(permissionEdits(value, all, other)).toEqual({ after: value, edits: [] });
  const less = [rules('removeRules', 'A'), directories('removeDirectories', '/x')];
  expect(permissionEdits(value, less, other).after).toEqual({
    permissions: { allow: ['B'], additionalDirectories: [] },
  });
  expect(permissionEdits(value, [rules('replaceRules', 'A')], other).after).toMatchObject({
    permissions: { allow: [] },
  });
});

test('keeps comments beside other rules', () => {
  const text =
    '{\n  "permissions": {\n    "allow": [\n      "A", // why A\n      "B" // why B\n    ]\n  }\n}\n';
  const { edits } = permissionEdits(
    { permissions: { allow: ['A', 'B'] } },
    [rules('addRules', 'C'), rules('removeRules', 'A')],
    target,
  );
  const edited = editText(text, edits);
  expect(edited).toContain('"B", // why B');
  expect(parseJsonc(edited).value).toEqual({ permissions: { allow: ['B', 'C'] } });
});

test('the edited text has the expected value for any file', () => {
  const update = fc.oneof(
    fc.record({
      type: fc.constantFrom('addRules', 'replaceRules', 'removeRules'),
      behavior: fc.constantFrom('allow', 'deny', 'ask'),
      destination: fc.constant('localSettings'),
      rules: fc.array(
        fc.record({
          toolName: fc.constantFrom('Bash', 'Read', 'mcp__a__b', '*', ''),
          ruleContent: fc.option(fc.string(), { nil: undefined }),
        }),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      type: fc.constantFrom('addDirectories', 'removeDirectories'),
      directories: fc.array(fc.constantFrom('/a', 'b', 'c')),
      destination: fc.constant('localSettings'),
    }),
    fc.constant(mode),
  ) as fc.Arbitrary<PermissionUpdate>;
  const list = fc.array(fc.oneof(fc.constantFrom('Bash', 'Read(x)', '/a', 'b'), fc.string()), {
    maxLength: 4,
  });
  const permissions = fc.record(
    { allow: list, deny: list, ask: list, additionalDirectories: list },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(permissions, fc.array(update, { maxLength: 4 }), (given, updates) => {
      const value = { permissions: given };
      const { after, edits } = permissionEdits(value, updates, target);
      expect(parseJsonc(editText(JSON.stringify(value, null, 2), edits)).value).toEqual(after);
    }),
  );
});

test('a written rule parses to the same rule', () => {
  fc.assert(
    fc.property(fc.constantFrom('Bash', 'Read', 'Task'), fc.string(), (toolName, ruleContent) => {
      const given = ruleOf({ toolName, ruleContent }, 'allow', 'localSettings');
      if (given.ok) expect(parseRule(ruleText(given.rule), 'allow', 'localSettings')).toEqual(given);
    }),
  );
});
