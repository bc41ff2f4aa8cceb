import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { realInput } from '../../../../src/agent/builtins/files/real-path.ts';
import { directoryWith } from '../built-in-world.ts';

const TOOL = { pathMember: 'file_path' };

function workspaceWithLinks() {
  const outside = directoryWith({ 'secret.txt': 'x' });
  const cwd = directoryWith({ 'a.txt': 'x' });
  mkdirSync(`${cwd}/deep`);
  symlinkSync(`${outside}/secret.txt`, `${cwd}/link.txt`);
  symlinkSync(outside, `${cwd}/out`);
  symlinkSync('../deep/not-yet', `${cwd}/deep/dangling`);
  symlinkSync(`${outside}/also-not-yet`, `${cwd}/escape`);
  symlinkSync('escape', `${cwd}/twice`);
  symlinkSync('circle', `${cwd}/circle`);
  return { cwd, outside };
}

test.each<[string, string, string]>([
  ['a plain file', 'a.txt', 'CWD/a.txt'],
  ['dots in between', './deep/../a.txt', 'CWD/a.txt'],
  ['a path from home', '~/a.txt', 'OUTSIDE/a.txt'],
  ['a link to a file', 'link.txt', 'OUTSIDE/secret.txt'],
  ['a file through a linked directory', 'out/secret.txt', 'OUTSIDE/secret.txt'],
  ['a new file', 'new/er/file', 'CWD/new/er/file'],
  ['a new file through a linked directory', 'out/new/file', 'OUTSIDE/new/file'],
  ['a dangling link', 'deep/dangling', 'CWD/deep/not-yet'],
  ['a dangling link out of the workspace', 'escape', 'OUTSIDE/also-not-yet'],
  ['a link to a dangling link', 'twice', 'OUTSIDE/also-not-yet'],
  ['below a dangling link', 'escape/x', 'OUTSIDE/also-not-yet/x'],
  ['below a file', 'a.txt/x', 'CWD/a.txt/x'],
  ['deep below a dangling link', `escape/${'d/'.repeat(60)}x`, `OUTSIDE/also-not-yet/${'d/'.repeat(60)}x`],
  ['more names than a system takes', `${'d/'.repeat(200_000)}x`, `CWD/${'d/'.repeat(200_000)}x`],
  ['deeper than links may be', `${'d/'.repeat(60)}x`, `CWD/${'d/'.repeat(60)}x`],
])('%s is resolved to where it leads', async (_, given, expected) => {
  const { cwd, outside } = workspaceWithLinks();
  const input = { file_path: given, other: 1 };
  const path = expected.replace('CWD', cwd).replace('OUTSIDE', outside);
  expect(await realInput(TOOL, input, { cwd, home: outside, directories: [] })).toEqual({
    kind: 'resolved',
    input: { file_path: path, other: 1 },
  });
});

test.each<[string, string]>([
  ['circle', 'The symbolic links form a loop: CWD/circle'],
  ['circle/x', 'The symbolic links form a loop: CWD/circle/x'],
  ['nul\0', 'A path or command contains a null character (U+0000); remove it'],
])('%j cannot be resolved, with the reason', async (given, fault) => {
  const { cwd } = workspaceWithLinks();
  expect(await realInput(TOOL, { file_path: given }, { cwd, home: cwd, directories: [] })).toEqual({
    kind: 'unresolved',
    fault: fault.replace('CWD', cwd),
  });
});

test.each<[string, { pathMember?: string }, Record<string, unknown>]>([
  ['a tool without a path', {}, { file_path: 'out' }],
  ['an input without its path', TOOL, { other: 1 }],
  ['an input whose path is no text', TOOL, { file_path: 1 }],
])('%s is left unchanged', async (_, tool, input) => {
  const { cwd } = workspaceWithLinks();
  expect(await realInput(tool, input, { cwd, home: cwd, directories: [] })).toEqual({
    kind: 'resolved',
    input,
  });
});
