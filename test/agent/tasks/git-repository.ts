import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A git repository of its own for one test. */
export type Repository = {
  readonly root: string;
  /** Runs git, by default in the root; returns its output without the line end. */
  git(args: readonly string[], directory?: string): string;
  write(name: string, content: string): void;
  worktrees(): string[];
  branches(): string[];
};

/** The environment of git: no configuration of this machine. */
const GIT_ENV: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

/** A repository whose branch `main` has one commit with `a.txt`. */
export function repositoryWith({ isEmpty = false } = {}): Repository {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'repository-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const git = (args: readonly string[], directory = root) =>
    execFileSync('git', args, { cwd: directory, env: GIT_ENV, encoding: 'utf8', stdio: 'pipe' }).replace(
      /\n$/,
      '',
    );
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  };
  git(['init', '-q', '-b', 'main']);
  git(['config', 'user.name', 'a']);
  git(['config', 'user.email', 'a@example.com']);
  if (!isEmpty) {
    write('a.txt', 'a\n');
    git(['add', '.']);
    git(['commit', '-q', '-m', 'first']);
  }
  return {
    root,
    git,
    write,
    worktrees: () =>
      git(['worktree', 'list', '--porcelain'])
        .split('\n')
        .filter((line) => line.startsWith('worktree '))
        .map((line) => line.slice('worktree '.length))
        .slice(1),
    branches: () => git(['branch', '--format=%(refname:short)']).split('\n'),
  };
}
