import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Task } from '../../../src/agent/task-list/task-graph.ts';
import { TaskList } from '../../../src/agent/task-list/task-list.ts';
import { Worktrees } from '../../../src/agent/tasks/worktrees.ts';
import { TaskWorktrees } from '../../../src/agent/teams/task-worktrees.ts';
import { type Repository, repositoryWith } from '../tasks/git-repository.ts';

const signal = new AbortController().signal;

function open() {
  const repository = repositoryWith();
  const worktrees = new Worktrees({
    cwd: repository.root,
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    hooks: { has: () => false, run: async () => ({}) },
    commandsIn: () => [],
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

/** Changes `a.txt` on `main` and, in another way, on the branch `side`. */
function diverge({ git, write }: Repository): void {
  git(['checkout', '-q', '-b', 'side']);
  write('a.txt', 'of the side\n');
  git(['commit', '-q', '-a', '-m', 'side']);
  git(['checkout', '-q', 'main']);
  write('a.txt', 'of the user\n');
  git(['commit', '-q', '-a', '-m', 'second']);
}

/** Runs git although it ends with a conflict. */
function conflict({ git }: Repository, args: readonly string[]): void {
  expect(() => git(args)).toThrow();
}

const refusal = (why: string) =>
  `the checkout of the user cannot take its changes, because ${why} there: leave that as it is, tell the user, and call CompleteTask again when the user has finished or aborted it`;

test.each<[string, (repository: Repository) => void, string]>([
  ['merge', (it) => conflict(it, ['merge', '-q', 'side']), 'a merge is in progress'],
  ['cherry-pick', (it) => conflict(it, ['cherry-pick', 'side']), 'a cherry-pick is in progress'],
  [
    'sequence of cherry-picks',
    (it) => {
      conflict(it, ['cherry-pick', 'side', 'side^']);
      it.git(['commit', '-q', '-a', '-m', 'picked']);
    },
    'a cherry-pick or revert is in progress',
  ],
  ['revert', (it) => conflict(it, ['revert', '--no-edit', 'side']), 'a revert is in progress'],
  ['rebase', (it) => conflict(it, ['rebase', '-q', 'side']), 'a rebase is in progress'],
  ['rebase of patches', (it) => conflict(it, ['rebase', '-q', '--apply', 'side']), 'a rebase is in progress'],
  [
    'squashed merge',
    (it) => conflict(it, ['merge', '-q', '--squash', 'side']),
    'files have unresolved conflicts (a.txt)',
  ],
])('an unfinished %s of the user stays as it is, and delays the merge', async (_, begin, why) => {
  const { repository, tasks, task } = open();
  const { root, git } = repository;
  const { worktree } = await tasks.open(task('1'), signal);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  diverge(repository);
  begin(repository);
  repository.write('a.txt', 'half resolved\n');
  const state = () => [git(['status', '--porcelain', '--untracked-files=no']), git(['rev-parse', 'HEAD'])];
  const before = state();
  expect(await tasks.merge(task('1'), worktree)).toBe(refusal(why));
  expect(state()).toEqual(before);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('half resolved\n');
});

test('a merge of the user that waits only for its commit stays as it is', async () => {
  const { repository, tasks, task } = open();
  const { worktree } = await tasks.open(task('1'), signal);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  diverge(repository);
  conflict(repository, ['merge', '-q', 'side']);
  repository.git(['add', 'a.txt']);
  expect(await tasks.merge(task('1'), worktree)).toBe(refusal('a merge is in progress'));
  repository.git(['commit', '-q', '--no-edit']);
  expect(await tasks.merge(task('1'), worktree)).toBeUndefined();
  expect(readFileSync(join(repository.root, 'b.txt'), 'utf8')).toBe('b\n');
});

test.each<[string, readonly string[], string]>([
  ['another branch', ['checkout', '-q', '-b', 'feature'], 'branch feature'],
  ['a commit without a branch', ['checkout', '-q', '--detach'], 'a commit without a branch'],
])('work on %s is neither committed nor merged, and its worktree stays', async (_, change, head) => {
  const { repository, tasks, task } = open();
  const { worktree } = await tasks.open(task('1'), signal);
  repository.git(change, worktree.path);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  expect(await tasks.merge(task('1'), worktree)).toBe(
    `Worktree “${worktree.path}” has checked out ${head} instead of its branch ${worktree.branch}: check out ${worktree.branch} there and merge the work into it`,
  );
  expect(repository.git(['status', '--porcelain'], worktree.path)).toBe('?? b.txt');
  repository.git(['checkout', '-q', String(worktree.branch)], worktree.path);
  expect(await tasks.merge(task('1'), worktree)).toBeUndefined();
  expect(readFileSync(join(repository.root, 'b.txt'), 'utf8')).toBe('b\n');
});

test('the next owner of a task that was released without a branch is told which branch is merged', async () => {
  const { repository, tasks, task } = open();
  const { worktree } = await tasks.open(task('1'), signal);
  repository.git(['checkout', '-q', '--detach'], worktree.path);
  await tasks.keep(worktree);
  const again = (await tasks.open(task('1'), signal)).worktree;
  expect(again.branch).toBeUndefined();
  expect(await tasks.merge(task('1'), again)).toContain(`check out ${worktree.branch} there`);
  repository.git(['checkout', '-q', String(worktree.branch)], worktree.path);
  writeFileSync(join(worktree.path, 'b.txt'), 'b\n');
  expect(await tasks.merge(task('1'), again)).toBeUndefined();
  expect(readFileSync(join(repository.root, 'b.txt'), 'utf8')).toBe('b\n');
});
