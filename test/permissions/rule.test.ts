import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRule, ruleText } from '../../src/permissions/rule.ts';

test.each([
  ['Bash', { tool: 'Bash' }],
  [' Bash ', { tool: 'Bash' }],
  ['Bash()', { tool: 'Bash' }],
  ['Bash(*)', { tool: 'Bash' }],
  ['Bash(git log:*)', { tool: 'Bash', content: 'git log:*' }],
  ['Bash(npm run *)', { tool: 'Bash', content: 'npm run *' }],
  ['Bash(echo "(a)")', { tool: 'Bash', content: 'echo "(a)"' }],
  ['Read(./src/**)', { tool: 'Read', content: './src/**' }],
  ['mcp__server', { tool: 'mcp__server' }],
  ['mcp__server__*', { tool: 'mcp__server__*' }],
  ['mcp__server__get_*', { tool: 'mcp__server__get_*' }],
  ['mcp__server__tool', { tool: 'mcp__server__tool' }],
  ['mcp__server__tool(*)', { tool: 'mcp__server__tool' }],
  ['mcp__my server!__tool', { tool: 'mcp__my server!__tool' }],
  ['mcp__*', { tool: 'mcp__*' }],
  ['Unknown', { tool: 'Unknown' }],
])('%j is a rule', (text, expected) => {
  expect(parseRule(text, 'allow', 'cliArg')).toEqual({
    ok: true,
    rule: { ...expected, effect: 'allow', source: 'cliArg' },
  });
});

test.each([
  ['', 'RULE_SYNTAX'],
  ['(x)', 'RULE_SYNTAX'],
  ['Bash(x', 'RULE_SYNTAX'],
  ['Bash)', 'RULE_SYNTAX'],
  ['Bash(x)y', 'RULE_SYNTAX'],
  ['Bash Read', 'RULE_SYNTAX'],
  ['Bash,Read', 'RULE_SYNTAX'],
  ['Ba*', 'RULE_SYNTAX'],
  ['mcp__', 'RULE_SYNTAX'],
  ['*', 'RULE_TOO_WIDE'],
  ['mcp__git*', 'RULE_TOO_WIDE'],
  ['mcp__server__tool(x)', 'RULE_TAKES_NO_PATTERN'],
  ['toString(x)', 'RULE_TAKES_NO_PATTERN'],
])('%j is reported, not thrown', (text, code) => {
  expect(parseRule(text, 'allow', 'session')).toMatchObject({
    ok: false,
    diagnostic: { code, effect: 'allow', source: 'session', message: expect.any(String) },
  });
});

test('a wide pattern may deny what it may not allow', () => {
  expect(parseRule('*', 'deny', 'cliArg').ok).toBe(true);
  expect(parseRule('mcp__git*', 'ask', 'cliArg').ok).toBe(true);
});

test('no text makes the parser throw, and the text of a rule is that rule again', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const parsed = parseRule(text, 'deny', 'session');
      if (parsed.ok) expect(parseRule(ruleText(parsed.rule), 'deny', 'session')).toEqual(parsed);
    }),
  );
});
