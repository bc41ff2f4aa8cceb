import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { truncate } from '../../base/text/display-text.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import { ownerText, parseOwner } from './process-owner.ts';
import { SafeGit, WorktreeError } from './safe-git.ts';

/** A directory that a session or an agent works in besides the checkout of the user. */
export type Worktree = {
  readonly path: string;
  /** Undefined for a worktree without a branch, and for one that a hook has made. */
  readonly branch?: string;
  /** `resumed`: an earlier worktree of this name; `entered`: one that was made outside of Toolplane; `hook`: made by a hook. */
  readonly origin: 'created' | 'resumed' | 'entered' | 'hook';
};

/** The work in a worktree that its removal would delete. */
export type WorktreeChanges = {
  readonly files: number;
  readonly commits: number;
  /** The commands that still run there, each as a few words. */
  readonly commands: readonly string[];
};

export type MergeEnd =
  | { readonly kind: 'merged'; readonly commit: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** Work of the user in the checkout is not finished; nothing was changed. */
  | { readonly kind: 'blocked'; readonly why: string };

/** What worktrees are for: the lock of each names its owner. */
type Owner = 'session' | 'agent';

type WorktreesDeps = {
  /** The directory of the project. */
  readonly cwd: string;
  /** The environment of git. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hooks: Pick<SessionHooks, 'has' | 'run'>;
  /** The commands of the session that run in a directory or below it, each as a few words. */
  commandsIn(directory: string): readonly string[];
  /** Receives what the user should know. */
  note(text: string): void;
};

/** A worktree in the list of git. */
type ListedWorktree = { readonly path: string; readonly branch?: string; readonly lock?: string };

/** The folder of the worktrees, in the root of the repository. */
const FOLDER = join('.claude', 'worktrees');
const MAX_NAME_LENGTH = 64;
const MAX_DIFF_LENGTH = 200_000;
/** Time limit for releasing and removing worktrees, which continues while the session ends. */
const CLEAN_UP_MS = 60_000;

/**
 * The git worktrees of a session and its agents, below `.claude/worktrees`, each on a branch of its own. A worktree with
 * uncommitted files, or with commits that no other branch has, is removed only on request.
 */
export class Worktrees {
  readonly #deps: WorktreesDeps;
  #git: Promise<{ readonly git: SafeGit; readonly root: string }> | undefined;
  /** Tells the locks of this session from those of other sessions of the process. */
  readonly #session = randomUUID();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: WorktreesDeps) {
    this.#deps = deps;
  }

  /** Creates a worktree of this name on a new branch, or takes over the one that an earlier session left. */
  create(name: string, owner: Owner, signal: AbortSignal): Promise<Worktree> {
    if (this.#deps.hooks.has('WorktreeCreate')) return this.#createByHook(name, signal);
    return this.#inTurn(() => this.#create(name, owner, signal));
  }

  async #create(name: string, owner: Owner, signal: AbortSignal): Promise<Worktree> {
    const { git, root } = await this.#repository(signal);
    const slug = name.replaceAll('/', '+');
    const path = join(folderIn(root), slug);
    const branch = branchOf(path);
    const reason = `toolplane ${owner} ${name} ${this.#session} ${ownerText()}`;
    const found = (await listed(git, signal)).find((it) => it.path === path);
    if (found && existsSync(path)) {
      const holder = lockHolder(found.lock);
      if (holder?.isAlive && !found.lock?.includes(` ${this.#session} `))
        throw new WorktreeError(
          `Cannot enter worktree “${path}”: another session (process ${holder.pid}) works in it. Use another name.`,
        );
      // Without the condition, a session that has taken it over meanwhile would lose its lock.
      if (found.lock !== undefined) await git.run(['worktree', 'unlock', path], signal);
      await git.output(['worktree', 'lock', '--reason', reason, path], signal);
      return { path, ...(found.branch !== undefined && { branch: found.branch }), origin: 'resumed' };
    }
    if ((await git.run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], signal)).code !== 0)
      throw new WorktreeError('Cannot create a worktree: the repository has no commits. Commit first.');
    // Registered, but its directory is gone.
    if (found) await git.run(['worktree', 'prune'], signal);
    const hasBranch =
      (await git.run(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], signal)).code === 0;
    const target = hasBranch ? [path, branch] : ['--no-track', '-b', branch, path, 'HEAD'];
    const lock = ['--lock', '--reason', reason];
    await git.output(['worktree', 'add', '--quiet', ...lock, ...target], signal);
    return { path, branch, origin: hasBranch ? 'resumed' : 'created' };
  }

  /** A worktree of the repository that exists already. */
  async open(path: string, signal: AbortSignal): Promise<Worktree> {
    const real = realPath(resolve(this.#deps.cwd, path));
    const { git } = await this.#repository(signal);
    const [main, ...others] = await listed(git, signal);
    const found = others.find((it) => it.path === real);
    if (!found || real === main?.path)
      throw new WorktreeError(`Cannot enter worktree: ${path} is not in the output of git worktree list.`);
    return { path: real, ...(found.branch !== undefined && { branch: found.branch }), origin: 'entered' };
  }

  /** What would be lost; undefined if that cannot be found out, as in a worktree with submodules. */
  async changes(worktree: Worktree, signal?: AbortSignal): Promise<WorktreeChanges | undefined> {
    if (worktree.origin === 'hook' || !existsSync(worktree.path)) return undefined;
    // Before git looks: a command may end with a change while git looks.
    const commands = this.#deps.commandsIn(worktree.path);
    const { git } = await this.#repository(signal);
    const inside = (args: readonly string[]) => git.run(args, signal, worktree.path);
    const directory = await inside(['rev-parse', '--absolute-git-dir']);
    // The repositories of submodules are removed with the worktree, and may contain commits of their own.
    if (directory.code !== 0 || existsSync(join(directory.stdout.trim(), 'modules'))) return undefined;
    const status = await inside(['status', '--porcelain', '-z', '--untracked-files=normal', '--no-renames']);
    const branch = ownBranch(worktree);
    // Without `refs/heads/`, because it is for `--branches`.
    const own = branch === undefined ? [] : [`--exclude=${branch}`];
    const heads = branch === undefined ? ['HEAD'] : ['HEAD', `refs/heads/${branch}`];
    const commits = await inside([
      ...['rev-list', '--count', ...heads, '--not', ...own],
      ...['--branches', '--remotes', '--tags'],
    ]);
    if (status.code !== 0 || commits.code !== 0) return undefined;
    return {
      files: status.stdout.split('\0').filter((line) => line !== '').length,
      commits: Number(commits.stdout),
      commands,
    };
  }

  /** What differs from the branch that the user has checked out: commits, uncommitted changes and names of new files. */
  async diff(worktree: Worktree, signal?: AbortSignal): Promise<string> {
    const { git } = await this.#repository(signal);
    const head = (await git.output(['rev-parse', 'HEAD'], signal)).trim();
    const base = (await git.run(['merge-base', head, 'HEAD'], signal, worktree.path)).stdout.trim() || head;
    const shown = [
      'diff',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--ignore-submodules=dirty',
      base,
      '--',
    ];
    const tracked = await git.run(shown, signal, worktree.path);
    const others = await git.run(['ls-files', '--others', '--exclude-standard', '-z'], signal, worktree.path);
    const added = others.stdout.split('\0').filter((file) => file !== '');
    const text = [tracked.stdout, ...added.map((file) => `new file: ${file}\n`)].join('');
    return truncate(text, MAX_DIFF_LENGTH, '\n… [cut]');
  }

  /** Merges the commits of a worktree into the branch that the user has checked out; a conflict changes nothing. */
  async merge(worktree: Worktree, signal?: AbortSignal): Promise<MergeEnd> {
    const { git, root } = await this.#repository(signal);
    const branch = await checkedOutBranch(git, worktree, signal);
    const why = await unfinished(git, root, signal);
    if (why !== undefined) return { kind: 'blocked', why };
    const tip = await git.output(['rev-parse', '--verify', `refs/heads/${branch}^{commit}`], signal);
    const before = (await git.output(['rev-parse', 'HEAD'], signal)).trim();
    const merged = await git.run(
      ['merge', '--no-ff', '--no-edit', '-m', mergeMessage(branch), `refs/heads/${branch}`],
      signal,
    );
    if (merged.code === 0) {
      const commit = (await git.output(['rev-parse', 'HEAD'], signal)).trim();
      return commit === before ? { kind: 'nothing' } : { kind: 'merged', commit };
    }
    const { stdout: merging } = await git.run(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD'], signal);
    // The user may have begun another merge meanwhile.
    const isOwn = merging === tip;
    const files = isOwn ? await unmerged(git, signal) : [];
    if (isOwn) await git.output(['merge', '--abort'], signal);
    if (files.length === 0)
      throw new WorktreeError(`git merge failed: ${merged.stderr.trim().split('\n')[0]}`);
    return { kind: 'conflict', files };
  }

  /** Commits all that is not committed in a worktree; false if there is nothing. Hooks of the repository do not run. */
  async commitAll(worktree: Worktree, message: string, signal?: AbortSignal): Promise<boolean> {
    const { git } = await this.#repository(signal);
    const { path } = worktree;
    await checkedOutBranch(git, worktree, signal);
    const inside = async (args: readonly string[]) => {
      const { code, stdout, stderr } = await git.run(args, signal, path);
      if (code === 0) return stdout;
      throw new WorktreeError(`git ${args[0]} failed: ${(stderr || stdout).trim().split('\n')[0]}`);
    };
    await inside(['add', '--all']);
    if ((await git.run(['diff', '--cached', '--quiet'], signal, path)).code === 0) return false;
    await inside(['commit', '--quiet', '--no-verify', '-m', message]);
    return true;
  }

  /** Whether the branch of a worktree was merged into the checked-out branch, and nothing was changed since. */
  async isMerged(worktree: Worktree, signal?: AbortSignal): Promise<boolean> {
    const { git } = await this.#repository(signal);
    const { branch } = worktree;
    if (branch === undefined || (await this.changes(worktree, signal))?.files !== 0) return false;
    const tip = `refs/heads/${branch}`;
    if ((await git.run(['merge-base', '--is-ancestor', tip, 'HEAD'], signal)).code !== 0) return false;
    const found = ['--merges', '--max-count=1', '--fixed-strings', `--grep=${mergeMessage(branch)}`];
    return (await git.output(['log', '--format=%H', ...found, 'HEAD'], signal)) !== '';
  }

  /** Lets others use the worktree, and keeps it. */
  async keep(worktree: Worktree): Promise<void> {
    if (worktree.origin === 'hook' || worktree.origin === 'entered') return;
    const signal = AbortSignal.timeout(CLEAN_UP_MS);
    const { git } = await this.#repository(signal);
    await git.run(['worktree', 'unlock', worktree.path], signal);
  }

  /**
   * Removes a worktree and its branch. Without `discards`, changes that appear meanwhile make it fail. A worktree that a
   * hook has made is removed by hooks.
   */
  async remove(worktree: Worktree, { discards = false } = {}): Promise<void> {
    const { path, origin } = worktree;
    const branch = ownBranch(worktree);
    const signal = AbortSignal.timeout(CLEAN_UP_MS);
    if (origin === 'hook') {
      await this.#deps.hooks.run('WorktreeRemove', { worktree_path: path }, signal);
      return;
    }
    const { git } = await this.#repository(signal);
    await this.#inTurn(() => this.#remove(git, { path, branch, discards }, signal));
  }

  async #remove(
    git: SafeGit,
    {
      path,
      branch,
      discards,
    }: { readonly path: string; readonly branch: string | undefined; readonly discards: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const tip =
      branch && (await git.run(['rev-parse', '--verify', `refs/heads/${branch}`], signal)).stdout.trim();
    await git.run(['worktree', 'unlock', path], signal);
    await git.output(['worktree', 'remove', ...(discards ? ['--force'] : []), path], signal);
    if (!branch || !tip) return;
    const inUse = (await listed(git, signal)).some((it) => it.branch === branch);
    // Compared with the earlier commit: a commit that was added meanwhile keeps the branch.
    if (!inUse) await git.output(['update-ref', '-d', `refs/heads/${branch}`, tip], signal);
  }

  /** Removes a worktree that nothing was changed in and no command runs in; otherwise it is kept. Returns whether it is kept. */
  async release(worktree: Worktree): Promise<boolean> {
    const changes = await this.changes(worktree, AbortSignal.timeout(CLEAN_UP_MS));
    if (changes?.files === 0 && changes.commits === 0 && changes.commands.length === 0) {
      await this.remove(worktree);
      return false;
    }
    await this.keep(worktree);
    return true;
  }

  /** Removes the unchanged worktrees of processes that have ended without removing them. */
  async removeStale(signal: AbortSignal): Promise<void> {
    if (!hasEntries(join(this.#deps.cwd, FOLDER))) return;
    const { git, root } = await this.#repository(signal);
    const folder = folderIn(root);
    for (const { path, branch, lock } of await listed(git, signal)) {
      const holder = lockHolder(lock);
      if (!holder || holder.isAlive || dirname(path) !== folder) continue;
      const isKept = await this.release({ path, ...(branch !== undefined && { branch }), origin: 'created' });
      if (isKept) this.#deps.note(`the worktree ${path} of an earlier session contains changes and was kept`);
    }
  }

  /** One after the other: git does not expect that worktrees are added and removed at the same time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #createByHook(name: string, signal: AbortSignal): Promise<Worktree> {
    const { worktreePath } = await this.#deps.hooks.run('WorktreeCreate', { name }, signal);
    if (worktreePath === undefined)
      throw new WorktreeError(
        'Cannot create a worktree: no WorktreeCreate hook returned "hookSpecificOutput.worktreePath" or printed a path; stderr shows hooks that failed.',
      );
    return { path: realPath(resolve(this.#deps.cwd, worktreePath)), origin: 'hook' };
  }

  #repository(signal?: AbortSignal): Promise<{ readonly git: SafeGit; readonly root: string }> {
    const { cwd, env } = this.#deps;
    const find = async () => {
      const { code, stdout } = await new SafeGit(cwd, env).run(['rev-parse', '--show-toplevel'], signal);
      const root = stdout.replace(/\n$/, '');
      if (code !== 0 || root === '') throw new WorktreeError(NO_REPOSITORY);
      return { git: new SafeGit(root, env), root: realpathSync(root) };
    };
    this.#git ??= find().catch((cause) => {
      // The directory may become a repository later.
      this.#git = undefined;
      throw cause;
    });
    return this.#git;
  }
}

const NO_REPOSITORY =
  'Cannot create a worktree: not in a git repository and no WorktreeCreate hooks are configured. Configure WorktreeCreate/WorktreeRemove hooks in settings.json to use worktree isolation with other VCS systems.';

/** The error of a name for a worktree; undefined for a valid one. */
export function worktreeNameFault(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH)
    return `Invalid worktree name: must be ${MAX_NAME_LENGTH} characters or fewer (got ${name.length})`;
  const segments = name.split('/');
  const start = `Invalid worktree name "${name}"`;
  if (segments.some((it) => it === '.' || it === '..'))
    return `${start}: must not contain "." or ".." path segments`;
  if (!segments.every((it) => /^[A-Za-z0-9._-]+$/.test(it)))
    return `${start}: each "/"-separated segment must be non-empty and contain only letters, digits, dots, underscores, and dashes`;
  return undefined;
}

/** The folder of the worktrees, created. A link in the repository must not lead it elsewhere. */
function folderIn(root: string): string {
  const folder = join(root, FOLDER);
  mkdirSync(folder, { recursive: true });
  if (realpathSync(folder) !== folder)
    throw new WorktreeError(
      `Cannot create a worktree: ${folder} leads to another directory through a symbolic link. Remove the link.`,
    );
  return folder;
}

/** The branch that was made for a worktree and is removed with it; another branch that is checked out there stays. */
function ownBranch({ path, branch }: Worktree): string | undefined {
  return branch === branchOf(path) ? branch : undefined;
}

/** The branch that is made for a worktree. */
function branchOf(path: string): string {
  return `worktree-${basename(path)}`;
}

/** Parses `git worktree list`; the first entry is the main checkout. */
async function listed(git: SafeGit, signal?: AbortSignal): Promise<ListedWorktree[]> {
  const text = await git.output(['worktree', 'list', '--porcelain', '-z'], signal);
  return text.split('\0\0').flatMap((block) => {
    const members = new Map(
      block.split('\0').map((line) => {
        const at = line.indexOf(' ');
        return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
      }),
    );
    const path = members.get('worktree');
    const branch = members.get('branch')?.replace(/^refs\/heads\//, '');
    const lock = members.get('locked');
    if (path === undefined) return [];
    return [{ path, ...(branch !== undefined && { branch }), ...(lock !== undefined && { lock }) }];
  });
}

/** The branch of a worktree; rejects if something else is checked out there, whose commits would not be merged. */
async function checkedOutBranch(
  git: SafeGit,
  { path, branch = branchOf(path) }: Worktree,
  signal?: AbortSignal,
): Promise<string> {
  const head = (await git.run(['symbolic-ref', '--quiet', 'HEAD'], signal, path)).stdout.trim();
  if (head === `refs/heads/${branch}`) return branch;
  const found = head === '' ? 'a commit without a branch' : `branch ${head.replace(/^refs\/heads\//, '')}`;
  throw new WorktreeError(
    `Worktree “${path}” has checked out ${found} instead of its branch ${branch}: check out ${branch} there and merge the work into it`,
  );
}

/** What git keeps while an operation is not finished. A rebase comes first, because it has files of the others too. */
const UNFINISHED = [
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['sequencer', 'a cherry-pick or revert'],
] as const;

/** Why nothing can be merged into a checkout; undefined if no work of the user is unfinished there. */
async function unfinished(git: SafeGit, root: string, signal?: AbortSignal): Promise<string | undefined> {
  const args = UNFINISHED.flatMap(([name]) => ['--git-path', name]);
  const paths = (await git.output(['rev-parse', ...args], signal)).split('\n');
  const found = UNFINISHED.find((_, at) => existsSync(resolve(root, paths[at] ?? '')));
  if (found) return `${found[1]} is in progress`;
  const files = await unmerged(git, signal);
  return files.length === 0 ? undefined : `files have unresolved conflicts (${files.join(', ')})`;
}

/** The files with unresolved conflicts. */
async function unmerged(git: SafeGit, signal?: AbortSignal): Promise<string[]> {
  const { stdout } = await git.run(['diff', '--name-only', '--diff-filter=U', '-z'], signal);
  return stdout.split('\0').filter((file) => file !== '');
}

function mergeMessage(branch: string): string {
  return `Merge branch '${branch}'`;
}

/** The process in a lock of ours; undefined for other locks. */
function lockHolder(lock = '') {
  return /^toolplane (?:session|agent) /.test(lock) ? parseOwner(lock) : undefined;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new WorktreeError(
      `Cannot enter worktree: ${path}: ${code}: no such file or directory, realpath '${path}'`,
    );
  }
}

function hasEntries(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

/** A random name of a worktree: three words. */
export function randomWorktreeName(random: () => number = Math.random): string {
  return [FIRST, SECOND, THIRD].map((words) => words[Math.floor(random() * words.length)]).join('-');
}

const FIRST =
  'amber brisk calm clear early fair gentle green keen light plain quick quiet silver steady warm'.split(' ');
const SECOND =
  'bending climbing drifting flowing folding hidden leaning lifting moving open resting rising'.split(' ');
const THIRD =
  'anchor birch brook cedar cliff field harbor heron lantern maple meadow orchard pebble river'.split(' ');

/** The name of the worktree of an agent. */
export function agentWorktreeName(agentId: string): string {
  return `agent-${basename(agentId)}`;
}
