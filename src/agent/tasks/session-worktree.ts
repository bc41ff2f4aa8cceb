import { resolve } from 'node:path';
import { isInWorkspace, type Workspace } from '../../permissions/path.ts';
import type { EnterWorktreeOutput, ExitWorktreeOutput } from '../../protocol/tools/task-tools.ts';
import { failedOutcome, type ToolOutcome, toolUseError } from '../loop/run-calls.ts';
import { WorktreeError } from './safe-git.ts';
import type { WorkingDirectory } from './working-directory.ts';
import {
  randomWorktreeName,
  type Worktree,
  type WorktreeChanges,
  type Worktrees,
  worktreeNameFault,
} from './worktrees.ts';

type SessionWorktreeDeps = {
  readonly worktrees: Worktrees;
  /** The working directory of the lead, which the session has after its creation. */
  directory(): WorkingDirectory;
  workspace(): Workspace;
};

const NEXT =
  'The session is now working in the worktree. Use ExitWorktree to leave mid-session, or exit the session to be prompted.';
const NOTHING_ENTERED =
  'No-op: there is no active EnterWorktree session to exit. This tool only operates on worktrees created by EnterWorktree in the current session — it will not touch worktrees created manually or in a previous session. No filesystem changes were made.';

/** The worktree that the lead works in. All its tools work there between the two calls. */
export class SessionWorktree implements AsyncDisposable {
  readonly #deps: SessionWorktreeDeps;
  #entered: Worktree | undefined;
  /** Texts about the working directory that the model has not got yet. */
  #texts: string[] = [];

  constructor(deps: SessionWorktreeDeps) {
    this.#deps = deps;
  }

  /** The error of a name for a worktree; undefined for a valid one. */
  nameFault(name: string): string | undefined {
    return worktreeNameFault(name);
  }

  async enter(
    { name, path }: { readonly name?: string; readonly path?: string },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    if (this.#entered && path === undefined)
      return toolUseError(
        'Already in a worktree session. Pass `path` to switch into another existing worktree, or use ExitWorktree to leave this one before creating a new worktree.',
      );
    const { worktrees } = this.#deps;
    try {
      const worktree =
        path === undefined
          ? await worktrees.create(name ?? randomWorktreeName(), 'session', signal)
          : await this.#open(path, signal);
      if (this.#entered) await worktrees.keep(this.#entered);
      this.#move(worktree);
      const programResult: EnterWorktreeOutput = { ...namesOf(worktree), message: enteredText(worktree) };
      return { content: programResult.message, isError: false, programResult };
    } catch (cause) {
      if (cause instanceof WorktreeError) return failedOutcome(cause.message);
      throw cause;
    }
  }

  async exit(
    { action, discards }: { readonly action: 'keep' | 'remove'; readonly discards: boolean },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const worktree = this.#entered;
    if (!worktree) return toolUseError(NOTHING_ENTERED);
    const { worktrees, workspace } = this.#deps;
    const { cwd } = workspace();
    if (action === 'remove' && worktree.origin === 'entered') return toolUseError(notOwned(worktree, cwd));
    try {
      const changes = action === 'remove' ? await worktrees.changes(worktree, signal) : undefined;
      if (action === 'remove' && !discards) {
        const fault = removalFault(worktree, changes);
        if (fault !== undefined) return toolUseError(fault);
      }
      if (action === 'keep') await worktrees.keep(worktree);
      else await worktrees.remove(worktree, { discards });
      this.#move(undefined);
      const counts = { discardedFiles: changes?.files ?? 0, discardedCommits: changes?.commits ?? 0 };
      const programResult: ExitWorktreeOutput & Restored = {
        action,
        originalCwd: cwd,
        originalCwdMissing: false,
        restoredCwd: cwd,
        ...namesOf(worktree),
        ...(action === 'remove' && counts),
        message: action === 'keep' ? keptText(worktree, cwd) : removedText(worktree, changes, cwd),
      };
      return { content: programResult.message, isError: false, programResult };
    } catch (cause) {
      if (cause instanceof WorktreeError) return failedOutcome(cause.message);
      throw cause;
    }
  }

  /** What the model should know about its working directory since the last round. */
  afterRound(): readonly string[] {
    return this.#texts.splice(0);
  }

  /** At the end of the session the worktree stays, and others may use it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#entered) await this.#deps.worktrees.keep(this.#entered).catch(() => {});
  }

  /** Enters an existing worktree. One outside the workspace would be a way around the permissions for its files. */
  async #open(path: string, signal: AbortSignal): Promise<Worktree> {
    const workspace = this.#deps.workspace();
    const worktree = await this.#deps.worktrees.open(resolve(this.#deps.directory().current, path), signal);
    if (!isInWorkspace(worktree.path, workspace))
      throw new WorktreeError(
        `Cannot enter worktree: ${worktree.path} is outside the working directories of the session.`,
      );
    return worktree;
  }

  #move(worktree: Worktree | undefined): void {
    const directory = this.#deps.directory();
    const before = directory.base;
    directory.enter(worktree?.path);
    this.#entered = worktree;
    this.#texts.push(directoryText(directory.base, before, worktree !== undefined));
  }
}

/** Members that programs get although the published type does not have them. */
type Restored = { readonly originalCwdMissing: boolean; readonly restoredCwd: string };

/** What an agent should know about the worktree that it works in. */
export function directoryText(directory: string, before: string | undefined, isWorktree: boolean): string {
  return [
    `The working directory is ${directory}${before === undefined ? '' : ` (until now ${before})`}.`,
    ...(isWorktree
      ? [
          'It is a git worktree: a checkout of its own on a branch of its own. Work only there, and do not change to the main checkout.',
          'All worktrees of the repository share one stash: use temporary commits instead of git stash.',
        ]
      : []),
  ].join('\n');
}

function namesOf({ path, branch }: Worktree): { worktreePath: string; worktreeBranch?: string } {
  return { worktreePath: path, ...(branch !== undefined && { worktreeBranch: branch }) };
}

function placeOf({ path, branch }: Worktree): string {
  return `“${path}”${branch === undefined ? '' : ` on branch “${branch}”`}`;
}

function enteredText(worktree: Worktree): string {
  const place = placeOf(worktree);
  if (worktree.origin === 'entered') return `Entered worktree at ${place}. ${NEXT}`;
  if (worktree.origin !== 'resumed') return `Created worktree at ${place}. ${NEXT}`;
  return `Resumed worktree at ${place}. A worktree with this name already existed and was resumed as-is — it may carry an earlier session’s commits. Pass a different name if you wanted a fresh worktree. ${NEXT}`;
}

function keptText(worktree: Worktree, cwd: string): string {
  return `Exited worktree. Your work is preserved at ${placeOf(worktree)}. Session is now back in “${cwd}”.`;
}

function removedText({ path }: Worktree, changes: WorktreeChanges | undefined, cwd: string): string {
  const { files = 0, commits = 0 } = changes ?? {};
  const lost = [...counted(commits, 'commit'), ...counted(files, 'uncommitted file')].join(' and ');
  const discarded = lost === '' ? '' : ` Discarded ${lost}.`;
  return `Exited and removed worktree at “${path}”.${discarded} Session is now back in “${cwd}”.`;
}

/** Why a worktree is not removed without confirmation; undefined if nothing would be lost. */
function removalFault({ path, branch }: Worktree, changes: WorktreeChanges | undefined): string | undefined {
  const ways = 'or use action: "keep" to preserve the worktree.';
  if (!changes)
    return `Could not verify worktree state at “${path}”. Refusing to remove without explicit confirmation. Confirm with the user, then re-invoke with discard_changes: true to proceed — ${ways}`;
  const place = branch === undefined ? '' : ` on “${branch}”`;
  const { files, commits, commands } = changes;
  const lost = [
    ...counted(files, 'uncommitted file'),
    ...counted(commits, 'commit').map((it) => it + place),
    ...commands.map((it) => `running ${it}`),
  ].join(' and ');
  if (lost === '') return undefined;
  const wait =
    commands.length === 0
      ? ''
      : 'Wait for the end of what runs there, or stop it, and try again. Otherwise: ';
  return `Worktree has ${lost}. Removing will discard this work permanently. ${wait}Confirm with the user, then re-invoke with discard_changes: true — ${ways}`;
}

function counted(count: number, noun: string): string[] {
  return count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];
}

function notOwned({ path }: Worktree, cwd: string): string {
  return `This session is not the owner of the worktree at “${path}” — it either entered a pre-existing worktree via EnterWorktree({path}) or resumed into a checkout whose liveness lock another running session still holds — so this tool will not remove it. Use action: "keep" to return to “${cwd}”. If no other session is using it, remove it yourself with \`git worktree remove\`; while a live session's lock is present, git will refuse and name the owner.`;
}
