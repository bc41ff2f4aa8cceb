import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyHookDecision, suggestUpdates } from '../../../src/agent/calls/permit-call.ts';
import type { PoolCall } from '../../../src/agent/calls/pool-call.ts';
import type { Decision } from '../../../src/permissions/decide.ts';
import { matchesCall } from '../../../src/permissions/match.ts';
import { absolutePath } from '../../../src/permissions/path.ts';
import { applyUpdates, EMPTY_RULES } from '../../../src/permissions/rule-store.ts';
import type { Origin } from '../../../src/pool/pool.ts';
import type { PermissionUpdate } from '../../../src/protocol/permission.ts';

describe('suggested permission updates', () => {
  const WORKSPACE = { cwd: '/w', home: '/home/me', directories: ['/extra'] };

  function call(name: string, input: object, origin: Origin, _meta?: Record<string, unknown>): PoolCall {
    const listed = { name, inputSchema: { type: 'object' as const }, ...(_meta && { _meta }) };
    const definition = {
      name,
      description: '',
      inputSchema: listed.inputSchema,
      alwaysLoad: false,
      origin,
      listed,
    };
    const { kind, ...names } = origin;
    return {
      id: '1',
      name,
      definition,
      input: input as PoolCall['input'],
      isTrusted: true,
      ...(kind === 'mcp' && names),
    };
  }

  const builtIn = (tool: string): Origin => ({ kind: 'builtin', tool });
  const mcp: Origin = { kind: 'mcp', server: 's', tool: 'Bash' };
  const always = (...rules: object[]) => [
    { type: 'addRules', rules, behavior: 'allow', destination: 'session' },
  ];

  test.each([
    [
      'a command: that very command',
      call('Bash', { command: 'ls -l' }, builtIn('Bash')),
      always({ toolName: 'Bash', ruleContent: 'ls -l' }),
    ],
    [
      'a kind of sub-agent',
      call('Agent', { subagent_type: 'k' }, builtIn('Agent')),
      always({ toolName: 'Agent', ruleContent: 'k' }),
    ],
    [
      'a command with a star: no other file than that',
      call('Bash', { command: 'rm *' }, builtIn('Bash')),
      always({ toolName: 'Bash', ruleContent: 'rm \\*' }),
    ],
    [
      'an edit in the workspace: the mode',
      call('Write', { file_path: '/w/a' }, builtIn('Write')),
      [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    ],
    [
      'an edit outside: that file',
      call('Edit', { file_path: '/etc/a' }, builtIn('Edit')),
      always({ toolName: 'Edit', ruleContent: '//etc/a' }),
    ],
    [
      'an edit of what the mode would ask about: that file',
      call('Write', { file_path: '.git/config' }, builtIn('Write')),
      always({ toolName: 'Write', ruleContent: '//w/.git/config' }),
    ],
    [
      'a read: that file',
      call('Read', { file_path: '/etc/hostname' }, builtIn('Read')),
      always({ toolName: 'Read', ruleContent: '//etc/hostname' }),
    ],
    [
      'a search: from where it looks',
      call('Grep', { pattern: 'x', path: '~/notes' }, builtIn('Grep')),
      always({ toolName: 'Grep', ruleContent: '//home/me/notes' }),
    ],
    [
      'a link: as written and what it leads to',
      { ...call('Read', { file_path: '/real' }, builtIn('Read')), originalInput: { file_path: '/link' } },
      always({ toolName: 'Read', ruleContent: '//real' }, { toolName: 'Read', ruleContent: '//link' }),
    ],
    [
      'a tool of a server: the tool, whatever its input looks like',
      call('mcp__s__Bash', { command: 'ls' }, mcp),
      always({ toolName: 'mcp__s__Bash' }),
    ],
    [
      'a tool that wants a person every time: nothing',
      call('mcp__s__x', {}, mcp, { 'anthropic/requiresUserInteraction': true }),
      [],
    ],
    ['a command that is none', call('Bash', { command: 7 }, builtIn('Bash')), always({ toolName: 'Bash' })],
  ])('"always" for %s', (_, given, expected) => {
    expect(suggestUpdates(given, WORKSPACE)).toEqual(expected);
  });

  test('a rule is saved to its destination; a mode applies to the session', () => {
    const command = call('Bash', { command: 'ls' }, builtIn('Bash'));
    expect(suggestUpdates(command, WORKSPACE, 'localSettings')).toMatchObject([
      { destination: 'localSettings' },
    ]);
    const edit = call('Write', { file_path: '/w/a' }, builtIn('Write'));
    expect(suggestUpdates(edit, WORKSPACE, 'localSettings')).toMatchObject([
      { type: 'setMode', destination: 'session' },
    ]);
  });

  const SUBJECTS = {
    Bash: 'command',
    Read: 'file_path',
    Edit: 'file_path',
    Grep: 'path',
  };
  const texts = fc
    .string({ unit: fc.constantFrom(...'ab*?\\/. ()[;\'"\n'), minLength: 1 })
    .filter((it) => it.trim() !== '');

  test('"always" allows later calls of the same path or command only', () => {
    const tools = fc.constantFrom(...(Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[]));
    fc.assert(
      fc.property(tools, texts, texts, (name, one, other) => {
        const about = (text: string) => {
          const value = SUBJECTS[name].endsWith('path') ? `/out/${text.replaceAll('..', '')}` : text;
          return call(name, { [SUBJECTS[name]]: value }, builtIn(name));
        };
        const [update] = suggestUpdates(about(one), WORKSPACE);
        const { rules } = applyUpdates(EMPTY_RULES, [update as PermissionUpdate]).set;
        const isAllowed = ({ input }: PoolCall) =>
          rules.some((rule) => matchesCall(rule, { name, input }, WORKSPACE));
        expect(isAllowed(about(one))).toBe(true);
        if (isAllowed(about(other))) expect(other).toSatisfy((it: string) => isSameOrBelow(name, it, one));
      }),
      { numRuns: 2000 },
    );
  });

  function isSameOrBelow(name: keyof typeof SUBJECTS, text: string, than: string): boolean {
    // The escaped text itself is allowed too: an exact rule is compared as it stands.
    if (name === 'Bash') return [than.trim(), than.trim().replaceAll('*', '\\*')].includes(text.trim());
    const at = (path: string) => absolutePath(`/out/${path.replaceAll('..', '')}`, WORKSPACE);
    return `${at(text)}/`.startsWith(`${at(than)}/`);
  }
});

describe('combining the decisions of rules and hooks', () => {
  const rule = { tool: 'X', effect: 'ask', source: 'session' } as const;
  const DECISIONS: Record<string, Decision> = {
    allow: { kind: 'allow', reason: { text: 'allowed' } },
    deny: { kind: 'deny', reason: { text: 'denied' } },
    ask: { kind: 'ask', reason: { text: 'asked' } },
    'ask by rule': { kind: 'ask', reason: { rule, text: 'asked' } },
    'ask about a changed tool': { kind: 'ask', reason: { mode: 'default', changed: {}, text: 'asked' } },
    'ask by the tool': { kind: 'ask', reason: { annotation: 'requiresUserInteraction', text: 'asked' } },
  };

  test.each([
    ['allow', undefined, 'allow'],
    ['allow', 'allow', 'allow'],
    ['allow', 'ask', 'ask'],
    ['allow', 'deny', 'deny'],
    ['ask', undefined, 'ask'],
    ['ask', 'allow', 'allow'],
    ['ask', 'ask', 'ask'],
    ['ask', 'deny', 'deny'],
    ['ask by rule', 'allow', 'ask'],
    ['ask by the tool', 'allow', 'ask'],
    ['ask about a changed tool', 'allow', 'ask'],
    ['ask about a changed tool', 'deny', 'deny'],
    ['deny', undefined, 'deny'],
    ['deny', 'allow', 'deny'],
    ['deny', 'ask', 'deny'],
    ['deny', 'deny', 'deny'],
  ] as const)('rules: %s; hook: %s; decision: %s', (decision, hook, expected) => {
    const effect = hook === undefined ? {} : { decision: hook };
    expect(applyHookDecision(DECISIONS[decision] as Decision, effect, 'default').kind).toBe(expected);
  });

  test('the reason of the hook is reported, and mode dontAsk turns its ask into a denial', () => {
    const allow = DECISIONS.allow as Decision;
    const effect = { decision: 'ask' as const, reason: 'are you sure?' };
    expect(applyHookDecision(allow, effect, 'default')).toEqual({
      kind: 'ask',
      reason: { text: 'are you sure?' },
    });
    expect(applyHookDecision(allow, effect, 'dontAsk')).toEqual({
      kind: 'deny',
      reason: { mode: 'dontAsk', text: 'mode dontAsk denies calls that require approval: are you sure?' },
    });
  });
});
