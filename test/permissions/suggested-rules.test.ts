import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesCall, type ToolCall } from '../../src/permissions/match.ts';
import { absolutePath } from '../../src/permissions/path.ts';
import { applyUpdates, EMPTY_RULES } from '../../src/permissions/rule-store.ts';
import { narrowRules, suggestUpdates } from '../../src/permissions/suggested-rules.ts';
import type { PermissionUpdate } from '../../src/protocol/permission.ts';

describe('suggested permission updates', () => {
  const WORKSPACE = { cwd: '/w', home: '/home/me', directories: ['/extra'] };

  const call = (name: string, input: object, _meta?: Record<string, unknown>) => ({
    name,
    input: input as ToolCall['input'],
    definition: { listed: _meta ? { _meta } : {} },
  });
  const mcpCall = (tool: string, input: object, _meta?: Record<string, unknown>) => ({
    ...call(`mcp__s__${tool}`, input, _meta),
    server: 's',
    tool,
  });
  const always = (...rules: object[]) => [
    { type: 'addRules', rules, behavior: 'allow', destination: 'session' },
  ];

  test.each([
    [
      'a command: that very command',
      call('Bash', { command: 'ls -l' }),
      always({ toolName: 'Bash', ruleContent: 'ls -l' }),
    ],
    [
      'a command with a subcommand: the subcommand',
      call('Bash', { command: 'npm install foo' }),
      always({ toolName: 'Bash', ruleContent: 'npm install *' }),
    ],
    [
      'a command that edits files of the workspace: that very command, and the mode',
      { ...call('Bash', { command: 'touch a' }), effect: 'edits' as const },
      [
        ...always({ toolName: 'Bash', ruleContent: 'touch a' }),
        { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      ],
    ],
    [
      'a kind of sub-agent',
      call('Agent', { subagent_type: 'k' }),
      always({ toolName: 'Agent', ruleContent: 'k' }),
    ],
    [
      'a command with a star: no other file than that',
      call('Bash', { command: 'rm *' }),
      always({ toolName: 'Bash', ruleContent: 'rm \\*' }),
    ],
    [
      'an edit in the workspace: the mode',
      call('Write', { file_path: '/w/a' }),
      [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    ],
    [
      'an edit outside: that file',
      call('Edit', { file_path: '/etc/a' }),
      always({ toolName: 'Edit', ruleContent: '//etc/a' }),
    ],
    [
      'an edit of what the mode would ask about: that file',
      call('Write', { file_path: '.git/config' }),
      always({ toolName: 'Write', ruleContent: '//w/.git/config' }),
    ],
    [
      'a read: that file',
      call('Read', { file_path: '/etc/hostname' }),
      always({ toolName: 'Read', ruleContent: '//etc/hostname' }),
    ],
    [
      'a search: from where it looks',
      call('Grep', { pattern: 'x', path: '~/notes' }),
      always({ toolName: 'Grep', ruleContent: '//home/me/notes' }),
    ],
    [
      'a link: as written and what it leads to',
      { ...call('Read', { file_path: '/real' }), originalInput: { file_path: '/link' } },
      always({ toolName: 'Read', ruleContent: '//real' }, { toolName: 'Read', ruleContent: '//link' }),
    ],
    [
      'a tool of a server: the tool, whatever its input looks like',
      mcpCall('Bash', { command: 'ls' }),
      always({ toolName: 'mcp__s__Bash' }),
    ],
    [
      'a tool that wants a person every time: nothing',
      mcpCall('x', {}, { 'anthropic/requiresUserInteraction': true }),
      [],
    ],
    ['a command that is none', call('Bash', { command: 7 }), always({ toolName: 'Bash' })],
  ])('"always" for %s', (_, given, expected) => {
    expect(suggestUpdates(given, WORKSPACE)).toEqual(expected);
  });

  test('a rule is saved to its destination; a mode applies to the session', () => {
    const command = call('Bash', { command: 'ls' });
    expect(suggestUpdates(command, WORKSPACE, 'localSettings')).toMatchObject([
      { destination: 'localSettings' },
    ]);
    const edit = call('Write', { file_path: '/w/a' });
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
          return call(name, { [SUBJECTS[name]]: value });
        };
        const [update] = suggestUpdates(about(one), WORKSPACE);
        const { rules } = applyUpdates(EMPTY_RULES, [update as PermissionUpdate]).set;
        const isAllowed = ({ input }: ToolCall) =>
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

describe('narrow rules', () => {
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

  test('rules for the command of a monitor are for Bash', () => {
    expect(narrowRules('Monitor', [{ command: 'tail -f x' }], workspace)).toEqual([
      { toolName: 'Bash', ruleContent: 'tail -f x' },
    ]);
  });
});
