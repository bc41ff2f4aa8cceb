import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { collect } from '../../support/collect.ts';
import { allow, drive, resultOf, results, texts } from '../../support/drive.ts';
import { repositoryWith } from './git-repository.ts';

const bash = (command: string, id: string) => toolUse('Bash', { command, description: 'a command' }, id);

function workIn(root: string) {
  return {
    workspace: { cwd: root, home: '/nonexistent', directories: [] },
    builtIns: ['Agent', 'Bash', 'EnterWorktree', 'ExitWorktree', 'Write'],
    rules: allow('Bash', 'Agent', 'Write'),
    permissionMode: 'default' as const,
  };
}

test('all tools work in the worktree until the session leaves it, and the model is told where it is', async () => {
  const { root, worktrees, branches } = repositoryWith();
  const path = join(root, '.claude/worktrees/fix');
  const { query, model } = drive(
    [
      toolUse('ExitWorktree', { action: 'remove' }, 'early'),
      toolUse('EnterWorktree', { name: 'a', path: 'b' }, 'both'),
      toolUse('EnterWorktree', { name: 'fix' }, 'enter'),
      toolUse('EnterWorktree', { name: 'more' }, 'again'),
      toolUse('Write', { file_path: 'new.txt', content: 'new' }, 'write'),
      bash('pwd', 'pwd'),
      toolUse('ExitWorktree', { action: 'remove' }, 'refused'),
      toolUse('ExitWorktree', { action: 'keep' }, 'keep'),
      bash('pwd', 'back'),
      toolUse('EnterWorktree', { path: '.claude/worktrees/fix' }, 'path'),
      toolUse('ExitWorktree', { action: 'remove', discard_changes: true }, 'foreign'),
      toolUse('ExitWorktree', { action: 'keep' }, 'leave'),
      toolUse('EnterWorktree', { name: 'fix' }, 'resume'),
      toolUse('ExitWorktree', { action: 'remove', discard_changes: true }, 'remove'),
      text('Done.'),
    ],
    {},
    workIn(root),
  );
  const messages = await collect(query);
  expect(resultOf(messages)).toMatchObject({ result: 'Done.', permission_denials: [] });
  const last = Object.assign({}, ...model.requests.map((request) => results(request)));
  expect(last).toMatchObject({
    early: expect.stringContaining('No-op: there is no active EnterWorktree session'),
    both: expect.stringContaining('at most one of `name` or `path`'),
    enter: expect.stringContaining(`Created worktree at “${path}” on branch “worktree-fix”. The session`),
    again: expect.stringContaining('Already in a worktree session.'),
    pwd: path,
    refused: expect.stringContaining('Worktree has 1 uncommitted file. Removing'),
    keep: `Exited worktree. Your work is preserved at “${path}” on branch “worktree-fix”. Session is now back in “${root}”.`,
    back: root,
    path: expect.stringContaining(`Entered worktree at “${path}”`),
    foreign: expect.stringContaining('This session is not the owner'),
    resume: expect.stringContaining('was resumed as-is'),
    remove: `Exited and removed worktree at “${path}”. Discarded 1 uncommitted file. Session is now back in “${root}”.`,
  });
  expect(texts(model.requests[3]).join()).toContain(`The working directory is ${path} (until now ${root})`);
  expect(worktrees()).toEqual([]);
  expect(branches()).toEqual(['main']);
});

test('a worktree outside the workspace cannot be entered by its path', async () => {
  const { root, git } = repositoryWith();
  const elsewhere = repositoryWith();
  const path = join(elsewhere.root, 'tree');
  git(['worktree', 'add', '-q', path]);
  const { query, model } = drive(
    [toolUse('EnterWorktree', { path }, 'enter'), text('Done.')],
    {},
    workIn(root),
  );
  await collect(query);
  expect(results(model.requests[1])).toEqual({
    enter: expect.stringContaining('outside the working directories'),
  });
});

test('at the end of the session the worktree stays, and is free for others', async () => {
  const { root, git, worktrees } = repositoryWith();
  const { query } = drive([toolUse('EnterWorktree', { name: 'fix' }), text('Done.')], {}, workIn(root));
  await collect(query);
  await expect.poll(() => git(['worktree', 'list', '--porcelain'])).not.toContain('locked');
  expect(worktrees()).toEqual([join(root, '.claude/worktrees/fix')]);
});

test('without a repository, hooks make and remove worktrees', async () => {
  const { root } = repositoryWith();
  const made = join(root, 'made');
  const seen: object[] = [];
  const { query, model } = drive(
    [
      toolUse('EnterWorktree', { name: 'w' }, 'enter'),
      toolUse('ExitWorktree', { action: 'remove' }, 'unsure'),
      toolUse('ExitWorktree', { action: 'remove', discard_changes: true }, 'remove'),
      text('Done.'),
    ],
    {
      hooks: {
        WorktreeCreate: [
          {
            hooks: [
              async (input) => {
                seen.push(input);
                return { hookSpecificOutput: { hookEventName: 'WorktreeCreate', worktreePath: root } };
              },
            ],
          },
        ],
        WorktreeRemove: [{ hooks: [async (input) => (seen.push(input) > 0 ? {} : {})] }],
      },
    },
    { ...workIn('/'), workspace: { cwd: '/', home: '/nonexistent', directories: [] } },
  );
  await collect(query);
  expect(seen).toEqual([
    expect.objectContaining({ hook_event_name: 'WorktreeCreate', name: 'w', cwd: '/' }),
    expect.objectContaining({ hook_event_name: 'WorktreeRemove', worktree_path: root, cwd: root }),
  ]);
  expect(results(model.requests[2])).toMatchObject({
    unsure: expect.stringContaining(`Could not verify worktree state at “${root}”`),
  });
  expect(existsSync(made)).toBe(false);
});

const isolated = (more: object = {}) =>
  toolUse(
    'Agent',
    { description: 'd', prompt: 'p', run_in_background: false, isolation: 'worktree', ...more },
    'agent',
  );

test('an isolated sub-agent that changes nothing leaves no worktree', async () => {
  const { root, worktrees, branches } = repositoryWith();
  const { query, model } = drive(
    [isolated(), bash('pwd; git branch --show-current', 'pwd'), text('nothing'), text('Done.')],
    {},
    workIn(root),
  );
  await collect(query);
  expect(results(model.requests[2])?.pwd).toMatch(
    new RegExp(`^${root}/\\.claude/worktrees/(agent-a\\w+)\nworktree-\\1$`),
  );
  expect(texts(model.requests[1]).join()).toContain('It is a git worktree');
  expect(results(model.requests[3])?.agent).not.toContain('worktreePath');
  expect(worktrees()).toEqual([]);
  expect(branches()).toEqual(['main']);
});

test('the changes of an isolated sub-agent stay in its worktree, which result and hooks name', async () => {
  const { root, worktrees, git } = repositoryWith();
  const directories: unknown[] = [];
  const listen = [{ hooks: [async (input: { cwd: string }) => (directories.push(input.cwd) > 0 ? {} : {})] }];
  const { query, model } = drive(
    [
      isolated(),
      toolUse('Write', { file_path: 'new.txt', content: 'new' }, 'write'),
      text('written'),
      bash('pwd; ls', 'lead'),
      text('Done.'),
    ],
    { hooks: { SubagentStart: listen, SubagentStop: listen } },
    workIn(root),
  );
  const messages = await collect(query);
  const [path = ''] = worktrees();
  const branch = `worktree-${path.split('/').at(-1)}`;
  expect(existsSync(join(path, 'new.txt'))).toBe(true);
  expect(existsSync(join(root, 'new.txt'))).toBe(false);
  expect(results(model.requests[3])?.agent).toContain(
    `\nworktreePath: ${path}\nworktreeBranch: ${branch}\n<usage>`,
  );
  const reports = messages.flatMap((it) =>
    it.type === 'user' && it.parent_tool_use_id === null ? [it.tool_use_result] : [],
  );
  expect(reports[0]).toMatchObject({ status: 'completed', worktreePath: path, worktreeBranch: branch });
  expect(directories).toEqual([path, path]);
  expect(results(model.requests[4])?.lead).toBe(`${root}\na.txt`);
  expect(git(['worktree', 'list', '--porcelain'])).not.toContain('locked');
});

test('isolation without a repository fails with the reason', async () => {
  const { query, model } = drive(
    [isolated(), text('Done.')],
    {},
    { ...workIn('/'), workspace: { cwd: '/', home: '/nonexistent', directories: [] } },
  );
  await collect(query);
  expect(results(model.requests[1])?.agent).toContain('not in a git repository');
});

/** A command that writes `late.txt` as soon as a line is written to the returned file. */
function lateWriter(root: string, name: string) {
  const go = join(root, '.git', name);
  execFileSync('mkfifo', [go]);
  return { command: `read -r _ < ${go}; echo WORK > late.txt`, go: `echo go > ${go}` };
}

test.each([
  ['a command in the background', (command: string) => ({ command, run_in_background: true }), /task b\w{8}/],
  [
    'a process that a command left running',
    (command: string) => ({ command: `{ ${command}; } &` }),
    /process group \d+/,
  ],
])('%s keeps the worktree of the session', async (_, start, name) => {
  const { root } = repositoryWith();
  const { command, go } = lateWriter(root, 'go');
  const description = 'waits';
  const { query, model } = drive(
    [
      toolUse('EnterWorktree', { name: 'fix' }, 'enter'),
      toolUse('Bash', { ...start(command), description }, 'start'),
      toolUse('ExitWorktree', { action: 'remove' }, 'refused'),
      bash(go, 'go'),
      text('Done.'),
      text('Done.'),
    ],
    {},
    workIn(root),
  );
  await collect(query);
  expect(results(model.requests[3])?.refused).toMatch(
    new RegExp(`Worktree has running ${name.source}.*Wait for the end of what runs there, or stop it`),
  );
  const late = join(root, '.claude/worktrees/fix/late.txt');
  await expect.poll(() => existsSync(late) && readFileSync(late, 'utf8')).toBe('WORK\n');
});

test('a command that a sub-agent left in the background keeps the worktree of the sub-agent', async () => {
  const { root, worktrees } = repositoryWith();
  const { command, go } = lateWriter(root, 'go');
  const { query, model } = drive(
    [
      isolated(),
      toolUse('Bash', { command, description: 'waits', run_in_background: true }, 'start'),
      text('started'),
      bash(go, 'go'),
      text('Done.'),
      text('Done.'),
    ],
    {},
    workIn(root),
  );
  await collect(query);
  const [path = ''] = worktrees();
  expect(results(model.requests[3])?.agent).toContain(`\nworktreePath: ${path}\n`);
  await expect.poll(() => readFileSync(join(path, 'late.txt'), 'utf8')).toBe('WORK\n');
});
