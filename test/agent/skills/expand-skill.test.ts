import { expect, test } from 'vitest';
import { expandSkill, mentionedPaths, splitWords } from '../../../src/agent/skills/expand-skill.ts';

const expand = (
  body: string,
  args = '',
  argumentNames: string[] = [],
  kind: 'skill' | 'command' = 'command',
) =>
  expandSkill(
    { body, kind, directory: '/p/skills/x', argumentNames },
    { args, sessionId: 's1', pluginDirectory: undefined },
  );
const textOf = (...given: Parameters<typeof expand>) =>
  expand(...given)
    .map((part) => (part.kind === 'text' ? part.text : `{${part.command}}`))
    .join('');

test.each<[string, string, string, string[], string]>([
  ['all arguments', 'Do $ARGUMENTS now', 'a "b c"', [], 'Do a "b c" now'],
  ['by place, from 0', '$0 and $1', 'a "b c"', [], 'a and b c'],
  ['by place in brackets', '$ARGUMENTS[1]', 'a b', [], 'b'],
  ['a missing one stays', '$0 $1', 'a', [], 'a $1'],
  ['by name', '$who: $what, $whom', 'a b', ['who', 'what'], 'a: b, $whom'],
  ['no placeholder: at the end', 'Do it.\n', 'a b', [], 'Do it.\n\n\nARGUMENTS: a b'],
  ['no arguments: nothing at the end', 'Do it.', '', [], 'Do it.'],
  ['variables', '${CLAUDE_SKILL_DIR} ${CLAUDE_SESSION_ID} ${HOME}', '', [], '/p/skills/x s1 ${HOME}'],
  [
    'arguments are not expanded again',
    '$ARGUMENTS',
    '$0 ${CLAUDE_SESSION_ID}',
    [],
    '$0 ${CLAUDE_SESSION_ID}',
  ],
  ['a command', 'Out: !`git log $0`.', 'x', [], 'Out: {git log x}.'],
  ['code without an exclamation mark, and inside a word', '`ls` a!`ls`', '', [], '`ls` a!`ls`'],
  ['arguments add no commands', 'Do $ARGUMENTS', '!`rm x`', [], 'Do !`rm x`'],
])('%s', (_, body, args, names, expected) => {
  expect(textOf(body, args, names)).toBe(expected);
});

test('the text of a skill begins with its folder', () => {
  expect(textOf('Body', '', [], 'skill')).toBe('Base directory for this skill: /p/skills/x\n\nBody');
});

test('quotes group the words of arguments', () => {
  expect(splitWords(`a "b \\"c" 'd e' f"g`)).toEqual(['a', 'b "c', 'd e', 'f"g']);
});

test('the files that a prompt names', () => {
  expect(mentionedPaths('See @a/b.ts, (@no) x@y.z @"with space.md" and @a/b.ts.')).toEqual([
    'a/b.ts',
    'with space.md',
  ]);
});
