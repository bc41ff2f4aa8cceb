import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certainEffect } from '../../../../src/agent/builtins/shell/certain-effect.ts';
import type { Workspace } from '../../../../src/permissions/path.ts';

let root: string;
let workspace: Workspace;
const PATH = '/usr/bin:/bin';

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'toolplane-effect-')));
  const cwd = join(root, 'w');
  for (const directory of [
    'sub/deep',
    'bin',
    'work/workflows',
    'hidden/.claude',
    'linked',
    '.github',
    'extra',
  ])
    await mkdir(join(cwd, directory), { recursive: true });
  await mkdir(join(root, 'outside'));
  await writeFile(join(cwd, 'a.txt'), 'a');
  await writeFile(join(cwd, 'bin/ls'), '#!/bin/sh\n');
  await chmod(join(cwd, 'bin/ls'), 0o755);
  await symlink(join(root, 'outside'), join(cwd, 'link'));
  await symlink('a.txt', join(cwd, 'alias.txt'));
  await symlink(join(root, 'outside'), join(cwd, 'linked/out'));
  workspace = { cwd, home: join(root, 'home'), directories: [join(root, 'added')] };
  await mkdir(join(root, 'added'));
});
afterAll(() => rm(root, { recursive: true }));

const effect = (command: string, changes: Partial<Workspace> = {}, path = PATH) =>
  certainEffect(command, { ...workspace, ...changes }, { PATH: path });

test.each([
  'ls',
  'cat a.txt',
  'cat missing',
  'pwd',
  'echo hi',
  'find . -name "*.txt"',
  'cat ../added/x',
  'cd sub',
])('%j reads the workspace', async (command) => {
  expect(await effect(command)).toBe('reads');
});

test.each([
  'mkdir d',
  'mkdir -p d/e && touch d/e/z',
  'rm a.txt',
  'rm -rf sub',
  'cp a.txt b.txt',
  'cp a.txt sub',
  'mv sub other',
  'mv a.txt sub',
  'touch package.json',
  'rmdir ../added/x',
])('%j edits the workspace', async (command) => {
  expect(await effect(command)).toBe('edits');
});

test.each([
  ['cat /etc/passwd', 'is outside'],
  ['ls ..', 'is outside'],
  ['cat link/x', 'leads outside'],
  ['cat alias.txt', 'is a link, with which rules for the file are not compared'],
  ['touch ../x', 'is outside'],
  ['touch link/x', 'leads outside'],
  ['touch linked/out/x', 'leads outside'],
  ['touch .bashrc', 'is protected'],
  ['mkdir -p .git/hooks', 'is protected'],
  ['rm -rf .', 'removes the working directory'],
  ['rm -rf ../added', 'removes a working directory'],
  ['rm -rf hidden', 'removes a protected directory'],
  ['rm -rf linked', 'contains a link'],
  ['mv hidden other', 'moves a protected directory'],
  ['mv work/workflows .github', 'makes the directory protected'],
  ['mv work .gitea', 'makes a directory below protected'],
  ['mv linked other', 'contains a link'],
  ['mv link other', 'moves a link'],
  ['mv missing other', 'depends on a missing file'],
  ['cp /etc/passwd x', 'reads outside'],
  ['cp a.txt ../x', 'writes outside'],
  ['cp a.txt .mcp.json', 'writes a protected file'],
  ['cp sub other', 'copies a directory'],
  ['cp alias.txt x', 'reads through a link'],
])('%j is not certain: it %s', async (command) => {
  expect(await effect(command)).toBeUndefined();
});

test('a program of the workspace is not taken for the one of the system', async () => {
  const own = join(workspace.cwd, 'bin');
  expect(await effect('ls', {}, `${own}:${PATH}`)).toBeUndefined();
  expect(await effect('cat a.txt', {}, `${own}:${PATH}`)).toBe('reads');
  for (const path of [`bin:${PATH}`, `:${PATH}`, '', '/missing']) {
    expect(await effect('ls', {}, path)).toBeUndefined();
    expect(await effect('echo hi', {}, path)).toBe('reads');
  }
});

test('commands in a directory outside of the workspace, or behind a link, are not certain', async () => {
  expect(await effect('ls', { directory: join(workspace.cwd, 'sub') })).toBe('reads');
  expect(await effect('ls', { directory: join(root, 'outside') })).toBeUndefined();
  expect(await effect('ls', { directory: join(workspace.cwd, 'link') })).toBeUndefined();
  expect(await effect('rm -r deep', { directory: join(workspace.cwd, 'sub') })).toBe('edits');
  expect(await effect('rm -r ../sub', { directory: join(workspace.cwd, 'sub') })).toBeUndefined();
});
