import { expect, test } from 'vitest';
import { misspeltTool } from '../../../src/host/launch/misspelt-tool.ts';
import { rule } from '../permission/situation.ts';

test.each([
  ['Bash', undefined],
  ['Bash(ls)', undefined],
  ['connect_mcp(docs)', undefined],
  ['mcp__dcos__search', undefined],
  ['*', undefined],
  ['WebFetch', undefined],
  ['TodoWrite', undefined],
  ['Skill', undefined],
  ['Bsh', 'rule "Bsh" is about no tool there is; did you mean "Bash"?'],
  ['read', 'rule "read" is about no tool there is; did you mean "Read"?'],
  ['Everything', 'rule "Everything" is about no tool there is'],
])('%s: %s', (text, told) => {
  expect(misspeltTool(rule(text, 'deny'))).toBe(told);
});
