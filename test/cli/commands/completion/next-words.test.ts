import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { loadAll } from '../../../../src/cli/command-table.ts';
import { completeLine } from '../../../../src/cli/commands/completion/next-words.ts';
import { createProgram } from '../../../../src/cli/program.ts';

const PROGRAM = createProgram();
await loadAll(PROGRAM);

/** The completions, with kinds of values in brackets. */
function next(line: string): string[] {
  const { items: words, value, before = '', begun } = completeLine(PROGRAM, line.split(' '));
  const values = value?.kind === 'words' ? value.words.map((word) => before + word) : [];
  const kinds =
    value && value.kind !== 'words' && value.kind !== 'nothing' ? [`${before}<${value.kind}>`] : [];
  const named = [...words.map(({ word }) => word), ...values].filter((word) => word.startsWith(begun));
  return [...named, ...kinds];
}

test.each([
  ['to', ['tools']],
  ['mcp re', ['remove', 'reject', 'reset-project-choices']],
  ['mcp get ', ['<servers>']],
  ['mcp get git', ['<servers>']],
  ['mcp get github ', []],
  ['mcp remove --scope ', ['local', 'project', 'user']],
  ['mcp remove --scope p', ['project']],
  ['mcp remove -s p', ['project']],
  ['mcp remove --scope=p', ['--scope=project']],
  ['mcp remove --scope = p', ['project']],
  ['mcp remove --scope =', ['local', 'project', 'user']],
  ['mcp remove --scope user ', ['<servers>']],
  ['mcp remove --scope=user ', ['<servers>']],
  ['mcp remove --scope = user ', ['<servers>']],
  ['mcp add --tr', ['--transport', '--trust']],
  ['mcp add --transport s', ['stdio', 'sse']],
  ['mcp add --cwd ', ['<directories>']],
  ['mcp add files -- ./', ['<files>']],
  ['mcp add files -- --sc', ['<files>']],
  ['mcp approve one ', ['<servers>']],
  ['secret ', ['list', 'set', 'remove']],
  ['secret remove ', ['<secrets>']],
  ['tools --mcp-config ', ['<files>']],
  ['tools --mcp-config x --server ', ['<servers>']],
  ['tools --co', ['--cost']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['nonsense --what', []],
  ['mcp nonsense more ', []],
])('%j is completed by %j', (line, expected) => {
  expect(next(line)).toEqual(expected);
});

test('without a command, offers the flags of chat too', () => {
  expect(next('--m')).toEqual(expect.arrayContaining(['--model', '--mcp-config']));
  expect(next('--mcp-config ')).toEqual(['<files>']);
});

test('offers every command and flag that help lists', () => {
  const all = (command: Command, path: string[]): void => {
    const help = command.createHelp();
    expect(next([...path, ''].join(' '))).toEqual(
      expect.arrayContaining(help.visibleCommands(command).map((it) => it.name())),
    );
    expect(next([...path, '--'].join(' '))).toEqual(
      expect.arrayContaining(help.visibleOptions(command).map((it) => it.long)),
    );
    for (const sub of command.commands) all(sub, [...path, sub.name()]);
  };
  all(PROGRAM, []);
});

test('does not offer hidden flags', () => {
  expect(next('completion --')).not.toContain('--words');
});
