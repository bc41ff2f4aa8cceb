import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../src/mcp/connection/connect-context.ts';
import { parseRule, policyRules, ruleText } from '../../src/permissions/rule.ts';

describe('rule', () => {
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
  ])('parses %j', (text, expected) => {
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
  ])('reports %j without throwing', (text, code) => {
    expect(parseRule(text, 'allow', 'session')).toMatchObject({
      ok: false,
      diagnostic: { code, effect: 'allow', source: 'session', message: expect.any(String) },
    });
  });

  test('a wide pattern may deny, but not allow', () => {
    expect(parseRule('*', 'deny', 'cliArg').ok).toBe(true);
    expect(parseRule('mcp__git*', 'ask', 'cliArg').ok).toBe(true);
  });

  test('the parser never throws, and a formatted rule parses to the same rule', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseRule(text, 'deny', 'session');
        if (parsed.ok) expect(parseRule(ruleText(parsed.rule), 'deny', 'session')).toEqual(parsed);
      }),
    );
  });
});

describe('server policy', () => {
  const withPolicy = (policy: unknown) =>
    new Map([['s', { entry: { type: 'sdk', name: 's', tools: [policy] } as unknown as ServerEntry }]]);

  test.each([
    [{ name: 't', permission_policy: 'always_allow' }, 'allow'],
    [{ name: 't', permission_policy: 'always_ask' }, 'ask'],
    [{ name: 't', permission_policy: 'always_deny' }, 'deny'],
    [{ name: 't', org_max_permission: 'blocked', permission_policy: 'always_allow' }, 'deny'],
    [{ name: 't', org_max_permission: 'ask', permission_policy: 'always_allow' }, 'ask'],
    [{ name: 't', org_max_permission: 'ask', permission_policy: 'always_deny' }, 'deny'],
    [{ name: 't', org_max_permission: 'allow', permission_policy: 'always_ask' }, 'ask'],
    [{ name: 't', org_max_permission: 'allow' }, undefined],
    [{ name: 't', permission_policy: 'constructor', org_max_permission: '__proto__' }, undefined],
    [{ name: 7, permission_policy: 'always_deny' }, undefined],
    [null, undefined],
  ])('%j: %s', (policy, effect) => {
    const expected = effect === undefined ? [] : [{ tool: 'mcp__s__t', effect, source: 'serverPolicy' }];
    expect(policyRules(withPolicy(policy))).toEqual(expected);
  });

  test('entries without policies give no rules', () => {
    const servers = new Map<string, { entry: ServerEntry }>([
      ['a', { entry: { command: 'x' } }],
      ['b', { entry: { type: 'http', url: 'http://x', tools: 'all' } as unknown as ServerEntry }],
    ]);
    expect(policyRules(servers)).toEqual([]);
  });
});
