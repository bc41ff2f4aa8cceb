import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Task } from '../../../src/agent/task-list/task-graph.ts';
import { TaskList } from '../../../src/agent/task-list/task-list.ts';
import { Worktrees } from '../../../src/agent/tasks/worktrees.ts';
import { TaskWorktrees } from '../../../src/agent/teams/task-worktrees.ts';
import { repositoryWith } from '../tasks/git-repository.ts';

const signal = new AbortController().signal;

function open() {
  const repository = repositoryWith();
  const worktrees = new Worktrees({
    cwd: repository.root,
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    hooks: { has: () => false, run: async () => ({}) },
    note() {},
  });
  const list = new TaskList(join(repository.root, '.git', 'tasks'));
  const lockDirectory = () => join(repository.root, '.git', 'team');
  const tasks = new TaskWorktrees({ worktrees, tasks: () => list, lockDirectory });
  const task = (id: string): Task => ({
    id,
    subject: `work ${id}`,
    description: 'd',
    status: 'in_progress',
    blocks: [],
    blockedBy: [],
  });
  return { repository, worktrees, tasks, task };
}

test('the work on a completed task is committed, merged, and its worktree removed', async () => {
  const { repository, tasks, task } = open();
  const { worktree, isMerged } = await tasks.open(task('1'), signal);
  expect(isMerged).toBe(false);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  expect(await tasks.merge(task('1'), worktree)).toBeUndefined();
  await tasks.remove(worktree);
  expect(readFileSync(join(repository.root, 'b.txt'), 'utf8')).toBe('b\n');
  expect(repository.git(['log', '--no-merges', '--format=%s']).split('\n').toSorted()).toEqual([
    'Task #1: work 1',
    'first',
  ]);
  expect(repository.worktrees()).toEqual([]);
  expect(repository.branches()).toEqual(['main']);
});

test('the next owner of a released task finds uncommitted work, and learns which work is merged already', async () => {
  const { tasks, task } = open();
  const { worktree } = await tasks.open(task('1'), signal);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  await tasks.keep(worktree);
  const again = await tasks.open(task('1'), signal);
  expect(again).toMatchObject({ worktree: { path: worktree.path, origin: 'resumed' }, isMerged: false });
  expect(readFileSync(join(again.worktree.path, 'b.txt'), 'utf8')).toBe('b\n');
  await tasks.merge(task('1'), again.worktree);
  // As after a crash between the merge and the completion of the task.
  expect(await tasks.open(task('1'), signal)).toMatchObject({ isMerged: true });
});

test('a branch without its worktree is checked out again', async () => {
  const { repository, worktrees } = open();
  const worktree = await worktrees.create('one', 'agent', signal);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  expect(await worktrees.commitAll(worktree, 'b', signal)).toBe(true);
  expect(await worktrees.commitAll(worktree, 'b', signal)).toBe(false);
  repository.git(['worktree', 'remove', '--force', '--force', worktree.path]);
  expect(await worktrees.create('one', 'agent', signal)).toMatchObject({ origin: 'resumed' });
  expect(readFileSync(join(worktree.path, 'b.txt'), 'utf8')).toBe('b\n');
});

test('a conflict names its files and changes nothing in the project', async () => {
  const { repository, tasks, task } = open();
  const { worktree } = await tasks.open(task('1'), signal);
  writeFileSync(join(worktree.path, 'a.txt'), 'of the task\n');
  repository.write('a.txt', 'of the user\n');
  repository.git(['commit', '-q', '-a', '-m', 'second']);
  const fault = await tasks.merge(task('1'), worktree);
  expect(fault).toBe(
    `its changes conflict with the checked-out branch in a.txt: merge that branch into ${worktree.branch}, resolve the conflicts, and call CompleteTask again`,
  );
  expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('of the user\n');
  expect(repository.git(['status', '--porcelain', '--untracked-files=no'])).toBe('');
});
