import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WorktreeError } from '../../../src/agent/tasks/safe-git.ts';
import {
  randomWorktreeName,
  type Worktree,
  Worktrees,
  worktreeNameFault,
} from '../../../src/agent/tasks/worktrees.ts';
import { type Repository, repositoryWith } from './git-repository.ts';

const signal = new AbortController().signal;
const NO_HOOKS = { has: () => false, run: async () => ({}) };

function worktreesOf({ root }: Pick<Repository, 'root'>, more: object = {}) {
  const notes: string[] = [];
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', ...more };
  const worktrees = new Worktrees({
    cwd: root,
    env,
    hooks: NO_HOOKS,
    commandsIn: () => [],
    note: (text) => notes.push(text),
  });
  return { worktrees, notes };
}

function commitIn({ git }: Repository, { path }: Worktree, name: string): void {
  writeFileSync(join(path, name), `${name}\n`);
  git(['add', '.'], path);
  git(['commit', '-q', '-m', name], path);
}

test('a worktree has a branch of its own and names its process; without changes both are removed', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('fix/login', 'session', signal);
  expect(worktree).toEqual({
    path: join(repository.root, '.claude/worktrees/fix+login'),
    branch: 'worktree-fix+login',
    origin: 'created',
  });
  expect(repository.git(['branch', '--show-current'], worktree.path)).toBe('worktree-fix+login');
  expect(repository.git(['worktree', 'list', '--porcelain'])).toMatch(
    new RegExp(`locked toolplane session fix/login [0-9a-f-]{36} \\(pid ${process.pid} start \\d+\\)`),
  );
  expect(await worktrees.changes(worktree)).toEqual({ files: 0, commits: 0, commands: [] });
  expect(await worktrees.release(worktree)).toBe(false);
  expect(repository.worktrees()).toEqual([]);
  expect(repository.branches()).toEqual(['main']);
  // Nothing is added to ignore files.
  expect(repository.git(['status', '--porcelain'])).toBe('');
});

test.each<[string, (repository: Repository, worktree: Worktree) => void, object]>([
  ['a new file', (_, { path }) => writeFileSync(join(path, 'new.txt'), ''), { files: 1, commits: 0 }],
  ['a changed file', (_, { path }) => writeFileSync(join(path, 'a.txt'), ''), { files: 1, commits: 0 }],
  ['a commit', (repository, it) => commitIn(repository, it, 'b'), { files: 0, commits: 1 }],
  [
    'a commit without a branch',
    (repository, it) => {
      repository.git(['checkout', '-q', '--detach'], it.path);
      commitIn(repository, it, 'b');
    },
    { files: 0, commits: 1 },
  ],
  [
    'new files although the repository hides them',
    (repository, { path }) => {
      repository.git(['config', 'status.showUntrackedFiles', 'no']);
      writeFileSync(join(path, 'new.txt'), '');
    },
    { files: 1, commits: 0 },
  ],
])('%s keeps the worktree; only a removal that discards deletes it', async (_, change, changes) => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  change(repository, worktree);
  expect(await worktrees.changes(worktree)).toMatchObject(changes);
  expect(await worktrees.release(worktree)).toBe(true);
  expect(repository.worktrees()).toEqual([worktree.path]);
  await worktrees.remove(worktree, { discards: true });
  expect(repository.worktrees()).toEqual([]);
  expect(repository.branches()).toEqual(['main']);
});

test('another branch that is checked out in a worktree is not removed with it', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  repository.git(['checkout', '-q', '-b', 'mine'], worktree.path);
  await worktrees.keep(worktree);
  const resumed = await worktrees.create('w', 'agent', signal);
  expect(resumed).toMatchObject({ branch: 'mine', origin: 'resumed' });
  expect(await worktrees.release(resumed)).toBe(false);
  expect(repository.branches()).toContain('mine');
});

test('files that appear after the check make a removal fail', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  writeFileSync(join(worktree.path, 'late.txt'), 'late');
  await expect(worktrees.remove(worktree)).rejects.toThrow(WorktreeError);
  expect(existsSync(join(worktree.path, 'late.txt'))).toBe(true);
});

test('merged commits are no reason to keep a worktree', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  commitIn(repository, worktree, 'b.txt');
  writeFileSync(join(worktree.path, 'c.txt'), '');
  const diff = await worktrees.diff(worktree);
  expect(diff).toContain('+b.txt');
  expect(diff).toContain('new file: c.txt');
  repository.git(['clean', '-q', '-f'], worktree.path);
  const merged = await worktrees.merge(worktree);
  expect(merged).toEqual({ kind: 'merged', commit: repository.git(['rev-parse', 'HEAD']) });
  expect(existsSync(join(repository.root, 'b.txt'))).toBe(true);
  expect(await worktrees.merge(worktree)).toEqual({ kind: 'nothing' });
  expect(await worktrees.release(worktree)).toBe(false);
});

test('a merge with a conflict changes nothing and names the files', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  commitIn(repository, worktree, 'a.txt');
  repository.write('a.txt', 'other\n');
  repository.git(['commit', '-q', '-a', '-m', 'other']);
  expect(await worktrees.merge(worktree)).toEqual({ kind: 'conflict', files: ['a.txt'] });
  expect(repository.git(['status', '--porcelain', '--untracked-files=no'])).toBe('');
  expect(await worktrees.changes(worktree)).toEqual({ files: 0, commits: 1, commands: [] });
});

test('an earlier worktree is taken over with its work; one in use is not', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  const first = await worktrees.create('w', 'session', signal);
  commitIn(repository, first, 'b');
  await worktrees.keep(first);
  expect(await worktrees.create('w', 'session', signal)).toEqual({ ...first, origin: 'resumed' });
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(other, 'spawn');
  repository.git(['worktree', 'unlock', first.path]);
  const reason = `toolplane session w (pid ${other.pid} start 0)`;
  repository.git(['worktree', 'lock', '--reason', reason, first.path]);
  await expect(worktrees.create('w', 'session', signal)).rejects.toThrow(
    `(process ${other.pid}) works in it`,
  );
  other.stdin?.end();
  await once(other, 'exit');
  expect(await worktrees.create('w', 'session', signal)).toMatchObject({ origin: 'resumed' });
});

test('a worktree in use is not taken over by another session of the same process', async () => {
  const repository = repositoryWith();
  const first = worktreesOf(repository).worktrees;
  const second = worktreesOf(repository).worktrees;
  const worktree = await first.create('w', 'session', signal);
  await expect(second.create('w', 'session', signal)).rejects.toThrow(
    `Cannot enter worktree “${worktree.path}”: another session (process ${process.pid}) works in it. Use another name.`,
  );
  await first.keep(worktree);
  expect(await second.create('w', 'session', signal)).toMatchObject({ origin: 'resumed' });
  await expect(first.create('w', 'session', signal)).rejects.toThrow(WorktreeError);
});

test('of sessions that take over a worktree at the same time, one gets it', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  await worktrees.keep(await worktrees.create('w', 'session', signal));
  const sessions = Array.from({ length: 4 }, () => worktreesOf(repository).worktrees);
  const ends = await Promise.allSettled(sessions.map((it) => it.create('w', 'session', signal)));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('worktrees of dead processes are removed at the next start, unless they contain work', async () => {
  const repository = repositoryWith();
  const { worktrees, notes } = worktreesOf(repository);
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  const [stale, changed, foreign] = await Promise.all(
    ['stale', 'changed', 'foreign'].map((name) => worktrees.create(name, 'agent', signal)),
  );
  const alive = await worktrees.create('alive', 'agent', signal);
  const lock = (it: Worktree | undefined, reason: string) => {
    repository.git(['worktree', 'unlock', String(it?.path)]);
    repository.git(['worktree', 'lock', '--reason', reason, String(it?.path)]);
  };
  lock(stale, `toolplane agent stale (pid ${dead.pid} start 1)`);
  // The process id has another process now.
  lock(changed, `toolplane agent changed (pid ${process.pid} start 1)`);
  lock(foreign, `claude agent foreign (pid ${dead.pid} start 1)`);
  writeFileSync(join(String(changed?.path), 'work.txt'), 'work');
  const next = worktreesOf(repository);
  await next.worktrees.removeStale(signal);
  expect(repository.worktrees().toSorted()).toEqual([alive.path, changed?.path, foreign?.path].toSorted());
  expect(next.notes).toEqual([expect.stringContaining('contains changes and was kept')]);
  expect(notes).toEqual([]);
});

test('a worktree with submodules counts as unknown, so it is kept', async () => {
  const repository = repositoryWith();
  const part = repositoryWith();
  repository.git(['-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', part.root, 'part']);
  repository.git(['commit', '-q', '-m', 'part']);
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  expect(await worktrees.changes(worktree)).toEqual({ files: 0, commits: 0, commands: [] });
  repository.git(['-c', 'protocol.file.allow=always', 'submodule', 'update', '-q', '--init'], worktree.path);
  expect(await worktrees.changes(worktree)).toBeUndefined();
  expect(await worktrees.release(worktree)).toBe(true);
  expect(existsSync(join(worktree.path, 'part/a.txt'))).toBe(true);
});

test('the repository cannot make git run a program', async () => {
  const repository = repositoryWith();
  const { git, root } = repository;
  const ran = join(root, 'ran');
  repository.write('.gitattributes', '*.txt filter=evil merge=evil diff=evil\n*.md filter=a=b\n');
  repository.write('b.md', 'b\n');
  git(['add', '.']);
  git(['commit', '-q', '-m', 'attributes']);
  repository.write('hook', `#!/bin/sh\necho hook >> ${ran}\n`);
  repository.git(['update-index', '--refresh']);
  const evil = join(root, 'evil');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $@" >> ${ran}\ncat\n`, { mode: 0o755 });
  for (const hook of ['post-checkout', 'post-merge', 'commit-msg', 'reference-transaction'])
    writeFileSync(join(root, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 });
  for (const name of ['filter.evil.smudge', 'filter.evil.clean', 'filter.a=b.smudge', 'core.fsmonitor'])
    git(['config', name, evil]);
  git(['config', 'merge.evil.driver', `${evil} %O %A %B`]);
  for (const name of ['diff.evil.textconv', 'diff.external', 'core.pager', 'core.editor', 'gpg.program'])
    git(['config', name, evil]);
  git(['config', 'commit.gpgSign', 'true']);
  git(['config', 'filter.evil.required', 'true']);
  const { worktrees } = worktreesOf(repository);
  const worktree = await worktrees.create('w', 'agent', signal);
  writeFileSync(join(worktree.path, 'a.txt'), 'changed\n');
  expect(await worktrees.changes(worktree)).toEqual({ files: 1, commits: 0, commands: [] });
  expect(await worktrees.diff(worktree)).toContain('+changed');
  await worktrees.merge(worktree);
  await worktrees.remove(worktree, { discards: true });
  expect(existsSync(ran)).toBe(false);
});

test('a symbolic link in the repository does not lead the worktrees elsewhere', async () => {
  const repository = repositoryWith();
  symlinkSync(realpathSync(mkdtempSync(join(tmpdir(), 'elsewhere-'))), join(repository.root, '.claude'));
  await expect(worktreesOf(repository).worktrees.create('w', 'agent', signal)).rejects.toThrow(
    'symbolic link',
  );
});

test('each failure has its own message', async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'plain-')));
  const create = (root: string, env = {}) =>
    worktreesOf({ root }, env).worktrees.create('w', 'agent', signal);
  await expect(create(directory)).rejects.toThrow('not in a git repository');
  await expect(create(directory, { PATH: directory })).rejects.toThrow('git is not installed or not in PATH');
  await expect(create(repositoryWith({ isEmpty: true }).root)).rejects.toThrow(
    'the repository has no commits',
  );
  const { worktrees } = worktreesOf(repositoryWith());
  await expect(worktrees.open('/nowhere', signal)).rejects.toThrow('/nowhere: ENOENT');
  await expect(worktrees.open('.', signal)).rejects.toThrow('is not in the output of git worktree list');
});

test('an interrupted creation leaves nothing', async () => {
  const repository = repositoryWith();
  const { worktrees } = worktreesOf(repository);
  await expect(worktrees.create('w', 'agent', AbortSignal.abort())).rejects.toThrow();
  expect(repository.worktrees()).toEqual([]);
  expect(repository.branches()).toEqual(['main']);
});

test.each([
  ['a', undefined],
  ['fix/login.2_x', undefined],
  ['', expect.stringContaining('non-empty')],
  ['a b', expect.stringContaining('letters, digits')],
  ['a//b', expect.stringContaining('non-empty')],
  ['../x', expect.stringContaining('".."')],
  ['x'.repeat(65), expect.stringContaining('64 characters')],
])('the name %j', (name, fault) => {
  expect(worktreeNameFault(name)).toEqual(fault);
});

test('random names are valid', () => {
  expect(worktreeNameFault(randomWorktreeName())).toBeUndefined();
});
