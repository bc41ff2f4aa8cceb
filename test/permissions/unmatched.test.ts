import { expect, test } from 'vitest';
import { removingRule, unmatchedDenyRules } from '../../src/permissions/unmatched.ts';
import { mcpCall, rule } from './situation.ts';

const known = [{ name: 'Bash' }, { name: 'Write' }, mcpCall('docs', 'search')];

test('a deny rule about no known tool is reported', () => {
  const rules = [
    rule('Bash(rm:*)', 'deny'),
    rule('Edit(./x)', 'deny'),
    rule('mcp__docs', 'deny'),
    rule('Bsh', 'deny', 'cliArg'),
    rule('mcp__dcos__*', 'deny'),
    rule('Nothing', 'allow'),
  ];
  expect(unmatchedDenyRules(rules, known).map(({ message }) => message)).toEqual([
    'deny rule "Bsh" of cliArg matches no known tool: check its spelling',
    'deny rule "mcp__dcos__*" of session matches no known tool: check its spelling',
  ]);
});

test('a tool denied as a whole is removed, one denied in part is not', () => {
  const whole = rule('mcp__docs', 'deny');
  expect(removingRule([rule('Bash(rm:*)', 'deny'), whole], mcpCall('docs', 'search'))).toBe(whole);
  expect(removingRule([rule('Bash(rm:*)', 'deny'), rule('Bash', 'ask')], { name: 'Bash' })).toBeUndefined();
});
