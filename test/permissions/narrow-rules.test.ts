import { expect, test } from 'vitest';
import { narrowRules } from '../../src/permissions/narrow-rules.ts';

const workspace = { cwd: '/project', directories: [], home: '/home/me' };

test.each([
  ['Bash', [{ command: 'git push' }], ['git push']],
  ['Bash', [{ command: 'ls *' }], ['ls \\*']],
  ['Read', [{ file_path: 'a' }, { file_path: '/b' }], ['//project/a', '//b']],
  ['Read', [{ file_path: 'a' }, { file_path: '/project/a' }], ['//project/a']],
  ['Bash', [{}], [undefined]],
  ['Other', [{ command: 'x' }], [undefined]],
])('%s of %j', (name, inputs, contents) => {
  const rules = narrowRules(name, inputs, workspace);
  expect(rules.map(({ ruleContent }) => ruleContent)).toEqual(contents);
  expect(rules.every(({ toolName }) => toolName === name)).toBe(true);
});
