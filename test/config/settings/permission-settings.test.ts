import { expect, test } from 'vitest';
import { BUILT_INS } from '../../../src/agent/builtins/table.ts';
import { BUILT_IN_TOOLS, unknownToolWarning } from '../../../src/config/settings/permission-settings.ts';
import { rule } from '../../permissions/situation.ts';

test.each([
  ['Bash', undefined],
  ['Bash(ls)', undefined],
  ['connect_mcp(docs)', undefined],
  ['mcp__dcos__search', undefined],
  ['*', undefined],
  ['WebFetch', undefined],
  ['TodoWrite', undefined],
  ['Skill', undefined],
  ['Bsh', 'rule "Bsh" names an unknown tool; did you mean "Bash"?'],
  ['read', 'rule "read" names an unknown tool; did you mean "Read"?'],
  ['Everything', 'rule "Everything" names an unknown tool; check the name'],
])('%s: %s', (text, told) => {
  expect(unknownToolWarning(rule(text, 'deny'))).toBe(told);
});

test('the list of built-in tools is complete', () => {
  expect(BUILT_IN_TOOLS).toEqual(BUILT_INS.map(({ listed }) => listed.name));
});
