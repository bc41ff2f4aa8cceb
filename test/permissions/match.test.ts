import { describe, expect, test } from 'vitest';
import { matchesCall, removingRule, unmatchedDenyRules } from '../../src/permissions/match.ts';
import { aliasesOf } from '../../src/pool/unique-names.ts';
import { bash, file, mcpCall, rule, WORKSPACE } from './situation.ts';

describe('match', () => {
  const matches = (text: string, effect: 'allow' | 'deny' | 'ask', call: Parameters<typeof matchesCall>[1]) =>
    matchesCall(rule(text, effect), call, WORKSPACE);

  describe('names', () => {
    test.each([
      ['Bash', bash('ls'), true],
      ['Bash', file('Read', 'a'), false],
      ['mcp__a', mcpCall('a', 'x'), true],
      ['mcp__a', mcpCall('a', 'x', 'mcp__a__x_1f'), true],
      ['mcp__a__x', mcpCall('a', 'x', 'mcp__a__x_1f'), true],
      ['mcp__a__x_1f', mcpCall('a', 'x', 'mcp__a__x_1f'), true],
      ['mcp__a__*', mcpCall('a', 'x'), true],
      ['mcp__a__get_*', mcpCall('a', 'get_it'), true],
      ['mcp__a__get_*', mcpCall('a', 'set_it'), false],
      ['mcp__a', mcpCall('ab', 'x'), false],
      ['mcp__a', mcpCall('a__b', 'x'), false],
      ['mcp__a__*', mcpCall('a__b', 'x'), false],
      ['mcp__a__b', mcpCall('a', 'b__c'), false],
      ['mcp__a__b', mcpCall('a__b', 'c'), true],
      ['mcp__my server!', mcpCall('my server!', 'do it'), true],
      ['mcp__my_server___do_it', mcpCall('my server!', 'do it'), true],
      ['mcp__*', mcpCall('any', 'x'), true],
      ['mcp__*', bash('ls'), false],
      ['Bash', mcpCall('Bash', 'Bash'), false],
    ])('allow %s for %j: %s', (text, call, expected) => {
      expect(matches(text, 'allow', call)).toBe(expected);
    });

    const taking = mcpCall('a', 'b__read');
    const meant = mcpCall('a__b', 'read');
    const aliased = mcpCall('a__b', 'read', 'mcp__a__b__read_1f');
    test.each([
      ['mcp__a__b__read', taking, ['a'], true],
      ['mcp__a__b__read', meant, ['a__b'], true],
      ['mcp__a__b__read', taking, ['a', 'a__b'], false],
      ['mcp__a__b__read', meant, ['a', 'a__b'], false],
      ['mcp__a__b__read', aliased, ['a', 'a__b'], false],
      ['mcp__a__b__read_1f', aliased, ['a', 'a__b'], true],
      // A server may list a tool with the name of another server's alias, which it can see in settings.
      ['mcp__a__b__read_1f', mcpCall('a', 'b__read_1f'), ['a', 'a__b'], false],
      ['mcp__a', taking, ['a', 'a__b'], true],
      ['mcp__a__*', taking, ['a', 'a__b'], true],
      ['mcp__a__b', meant, ['a__b'], true],
      ['mcp__a__b', meant, ['a', 'a__b'], false],
      ['mcp__a__b', mcpCall('a', 'b'), ['a', 'a__b'], false],
      ['mcp__a__b__*', taking, ['a', 'a__b'], false],
      ['mcp__a__b__*', meant, ['a', 'a__b'], false],
      ['mcp__*', meant, ['a', 'a__b'], true],
      ['mcp__my_server__x', mcpCall('my server', 'x'), ['my server', 'my_server'], false],
      ['mcp__my_server', mcpCall('my server', 'x'), ['my server', 'my_server'], false],
      ['mcp__my_server__x', mcpCall('my server', 'x'), ['my server', 'ours', 'my'], true],
    ])('allow %s for %j with servers %j: %s', (text, call, servers, expected) => {
      expect(matches(text, 'allow', { ...call, servers })).toBe(expected);
    });

    test.each(['deny', 'ask'] as const)('%s rules are about every tool their name could mean', (effect) => {
      for (const call of [taking, meant, aliased]) {
        expect(matches('mcp__a__b__read', effect, { ...call, servers: ['a', 'a__b'] })).toBe(true);
        expect(matches('mcp__a__b__*', effect, { ...call, servers: ['a', 'a__b'] })).toBe(true);
      }
    });

    test('a deny or ask rule for an alias also matches the full name; an allow rule does not', () => {
      const [alias = ''] = aliasesOf('a__b', 'read');
      for (const effect of ['deny', 'ask'] as const) {
        expect(matches(alias, effect, meant)).toBe(true);
        expect(matches(alias, effect, taking)).toBe(false);
      }
      expect(matches(alias, 'allow', meant)).toBe(false);
      expect(matches(alias, 'allow', { ...meant, name: alias })).toBe(true);
    });

    test('a deny pattern may span servers', () => {
      expect(matches('mcp__git*', 'deny', mcpCall('github', 'x'))).toBe(true);
      expect(matches('*', 'deny', bash('ls'))).toBe(true);
    });
  });

  describe('paths', () => {
    test.each([
      ['./src/**', 'src/a/b.ts', true],
      ['./src/**', '/w/src/a.ts', true],
      ['./src/**', '/w/src/../secret', false],
      ['./src/**', '/w/srcs/a', false],
      ['/src/*.ts', 'src/a.ts', true],
      ['/src/*.ts', 'src/b/a.ts', false],
      ['src/**/*.ts', 'src/a.ts', true],
      ['src/**/*.ts', 'src/b/c/a.ts', true],
      ['src', 'src/a.ts', true],
      ['src/', 'src/a.ts', true],
      ['.env', 'deep/down/.env', true],
      ['.env', 'deep/x.env', false],
      ['*.pem', 'deep/x.pem', true],
      ['a?c', 'abc', true],
      ['a.c', 'abc', false],
      ['//etc/**', '/etc/passwd', true],
      ['/etc/**', '/etc/passwd', false],
      ['~/.ssh/**', '/home/me/.ssh/id', true],
      ['~/.ssh/**', '~/.ssh/id', true],
      ['**', '/etc/passwd', false],
      ['**', 'a/b', true],
      ['//', '/etc/passwd', true],
      ['~', '/home/me/a', true],
      ['//a\\*', '/a*', true],
      ['//a\\*', '/ab', false],
      ['//a\\?', '/ab', false],
      ['//a\\\\b', '/a\\b', true],
      ['//a\\b', '/a\\b', true],
    ])('Read(%s) of %s: %s', (pattern, path, expected) => {
      expect(matches(`Read(${pattern})`, 'allow', file('Read', path))).toBe(expected);
    });

    test('a star in the name of the workspace is literal', () => {
      const odd = { ...WORKSPACE, cwd: '/w*' };
      expect(matchesCall(rule('Read(./a)', 'allow'), file('Read', '/w*/a'), odd)).toBe(true);
      expect(matchesCall(rule('Read(./a)', 'allow'), file('Read', '/wide/a'), odd)).toBe(false);
    });

    test('Edit patterns apply to Write, and Read patterns to Glob and Grep', () => {
      expect(matches('Edit(./a)', 'deny', file('Write', 'a'))).toBe(true);
      expect(matches('Read(./a)', 'deny', { name: 'Grep', input: { path: 'a', pattern: 'x' } })).toBe(true);
      expect(matches('Read(./a)', 'deny', { name: 'Glob', input: { pattern: '*' } })).toBe(false);
      expect(matches('Read(./a)', 'deny', file('Edit', 'a'))).toBe(false);
      expect(matches('Edit', 'deny', file('Write', 'a'))).toBe(false);
    });
  });

  test('words are compared as a whole', () => {
    expect(matches('Agent(review)', 'allow', { name: 'Agent', input: { subagent_type: 'review' } })).toBe(
      true,
    );
    expect(matches('Agent(review)', 'allow', { name: 'Agent', input: { subagent_type: 'reviewer' } })).toBe(
      false,
    );
  });

  test('a call without the compared argument is denied, but not allowed, by a pattern', () => {
    const odd = { name: 'Bash', input: { command: 5 } };
    expect(matches('Bash(ls:*)', 'allow', odd)).toBe(false);
    expect(matches('Bash(ls:*)', 'deny', odd)).toBe(true);
  });
});

describe('monitors', () => {
  const monitor = (command: string) => ({ name: 'Monitor', input: { command } });

  test.each<[string, 'allow' | 'deny' | 'ask', string, boolean]>([
    ['Bash', 'deny', 'tail -f x', true],
    ['Bash', 'allow', 'tail -f x', true],
    ['Bash(tail:*)', 'allow', 'tail -f x', true],
    ['Monitor(tail:*)', 'allow', 'tail -f x', true],
    ['Bash(rm:*)', 'deny', 'tail -f x | rm y', true],
    ['Bash(rm:*)', 'deny', 'tail -f x', false],
    ['Read(./.env)', 'deny', 'tail -f .env', true],
  ])('%s %s applies to the command of a monitor: %s', (text, effect, command, isMatched) => {
    expect(matchesCall(rule(text, effect), monitor(command), WORKSPACE)).toBe(isMatched);
  });

  test('rules for monitors do not apply to other commands', () => {
    expect(matchesCall(rule('Monitor(tail:*)', 'allow'), bash('tail -f x'), WORKSPACE)).toBe(false);
  });
});

describe('unmatched', () => {
  const known = [{ name: 'Bash' }, { name: 'Write' }, mcpCall('docs', 'search')];

  test('reports a deny rule that matches no known tool', () => {
    const rules = [
      rule('Bash(rm:*)', 'deny'),
      rule('Edit(./x)', 'deny'),
      rule('mcp__docs', 'deny'),
      rule('Bsh', 'deny', 'cliArg'),
      rule('mcp__dcos__*', 'deny'),
      rule('Nothing', 'allow'),
    ];
    expect(unmatchedDenyRules(rules, known).map(({ message }) => message)).toEqual([
      'deny rule "Bsh" of cliArg matches no known tool; check its spelling',
      'deny rule "mcp__dcos__*" of session matches no known tool; check its spelling',
    ]);
  });

  test('a tool denied as a whole is removed, one denied in part is not', () => {
    const whole = rule('mcp__docs', 'deny');
    expect(removingRule([rule('Bash(rm:*)', 'deny'), whole], mcpCall('docs', 'search'))).toBe(whole);
    expect(removingRule([rule('Bash(rm:*)', 'deny'), rule('Bash', 'ask')], { name: 'Bash' })).toBeUndefined();
  });
});
