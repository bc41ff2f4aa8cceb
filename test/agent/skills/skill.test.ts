import { describe, expect, test } from 'vitest';
import type { DefinitionFile } from '../../../src/agent/skills/definition-files.ts';
import { DEFAULT_STYLE, outputStyles, styleReminders } from '../../../src/agent/skills/output-styles.ts';
import { readAgent, readSkill, rulesOf } from '../../../src/agent/skills/skill.ts';

const file = (text: string, more: Partial<DefinitionFile> = {}): DefinitionFile => ({
  kind: 'skill',
  scope: 'project',
  path: '/p/.claude/skills/x/SKILL.md',
  label: 'SKILL.md',
  name: 'x',
  text,
  ...more,
});

describe('skills', () => {
  test('every field of the frontmatter', () => {
    const { value, problems } = readSkill(
      file(
        [
          '---',
          'name: named',
          'description: Does it',
          'when_to_use: Often',
          'allowed-tools: Read, Bash(git add:*)',
          'argument-hint: [who] [what]',
          'arguments: who what',
          'model: haiku',
          'context: fork',
          'agent: finder',
          'disable-model-invocation: true',
          'user-invocable: false',
          'license: MIT',
          '---',
          'Body',
        ].join('\n'),
      ),
    );
    expect(problems).toEqual([]);
    expect(value).toMatchObject({
      name: 'x',
      alias: 'named',
      description: 'Does it - Often',
      allowedTools: ['Read', 'Bash(git add:*)'],
      argumentHint: '[who] [what]',
      argumentNames: ['who', 'what'],
      model: 'haiku',
      agent: 'finder',
      isForModel: false,
      isForUsers: false,
      directory: '/p/.claude/skills/x',
      body: 'Body',
    });
    expect(value && rulesOf(value).map(({ tool, content }) => [tool, content])).toEqual([
      ['Read', undefined],
      ['Bash', 'git add:*'],
    ]);
  });

  test('without frontmatter the description is the first line, and the name that of the folder', () => {
    expect(readSkill(file('\n# Title\nText')).value).toMatchObject({
      name: 'x',
      description: 'Title',
      isDescribed: false,
      isForModel: true,
      isForUsers: true,
      allowedTools: [],
    });
  });

  test('wrong fields are problems of their lines, and the skill is used without them', () => {
    const { value, problems } = readSkill(
      file('---\nname: has spaces\nallowed-tools: Bash(x), (y)\nagent: a\nwhat: 1\n---\n'),
    );
    expect(value).toMatchObject({ name: 'x', allowedTools: ['Bash(x)'] });
    expect(problems.map(({ line, message }) => `${line} ${message.split(' ')[0]}`)).toEqual([
      '2 "name"',
      '4 "agent"',
      '3 "allowed-tools"',
      '5 "what"',
    ]);
  });

  test('a skill of a plugin has the name of the plugin before its own names', () => {
    const { value } = readSkill(file('---\nname: n\n---\n', { scope: 'plugin', plugin: 'p', name: 'p:x' }));
    expect(value).toMatchObject({ name: 'p:x', alias: 'p:n' });
  });
});

describe('kinds of sub-agents', () => {
  const agent = (text: string, isApproved = false) =>
    readAgent(file(text, { kind: 'agent' }), () => isApproved);

  test('every field of the frontmatter', () => {
    const { value, problems } = agent(
      '---\nname: finder\ndescription: Finds\ntools: Read, Grep\ndisallowedTools: [Bash]\nmodel: haiku\nmaxTurns: 3\nskills: a, b\nbackground: true\nisolation: worktree\n---\n\nYou find.\n',
    );
    expect(problems).toEqual([]);
    expect(value).toEqual({
      name: 'finder',
      label: 'SKILL.md',
      definition: {
        description: 'Finds',
        prompt: 'You find.',
        tools: ['Read', 'Grep'],
        disallowedTools: ['Bash'],
        model: 'haiku',
        maxTurns: 3,
        skills: ['a', 'b'],
        background: true,
        isolation: 'worktree',
      },
    });
  });

  test('a file without a name is ignored, with a note', () => {
    expect(agent('---\ndescription: x\n---\nb')).toEqual({
      value: undefined,
      problems: [{ line: 1, message: expect.stringContaining('no "name"') }],
    });
  });

  test('an effort is used; fields without effect are reported', () => {
    const text = '---\nname: a\ndescription: d\neffort: low\nhooks: x\nmemory: user\ncolor: red\n---\nb';
    const { value, problems } = agent(text);
    expect(value?.definition.effort).toBe('low');
    expect(problems.map(({ line }) => line).toSorted()).toEqual([5, 6]);
  });

  test('the permission mode counts only once the file is approved', () => {
    const text = '---\nname: a\ndescription: d\npermissionMode: acceptEdits\n---\nb';
    expect(agent(text).value?.definition.permissionMode).toBeUndefined();
    expect(agent(text).problems.map(({ line }) => line)).toEqual([4]);
    expect(agent(text, true)).toMatchObject({
      value: { definition: { permissionMode: 'acceptEdits' } },
      problems: [],
    });
  });
});

test('styles: the built-in ones, then files; the last with a name is used', () => {
  const style = (text: string, name: string) => file(text, { kind: 'style', name });
  const { styles, problems } = outputStyles([
    style('---\nname: Pirate\ndescription: Arr\n---\nTalk.', 'p'),
    style('Only text', 'plain'),
    style('---\nname: Concise\n---\nMine.', 'c'),
    style(`---\nname: ${DEFAULT_STYLE}\n---\nX`, 'd'),
  ]);
  expect([...styles.keys()]).toEqual([
    'Proactive',
    'Concise',
    'Explanatory',
    'Learning',
    'Pirate',
    'plain',
    'd',
  ]);
  expect(styles.get('Concise')).toMatchObject({ text: 'Mine.', scope: 'project' });
  expect(problems.flatMap((it) => it.problems)).toHaveLength(1);
  expect(styles.get('Pirate') && styleReminders(styles.get('Pirate') as never, true)).toEqual([
    '# Output Style: Pirate\nTalk.',
  ]);
});
