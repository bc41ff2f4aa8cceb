import { isInWorkspace, type Workspace } from '../../permissions/path.ts';

/** The directory in which the tools of a session work. Commands and worktrees move it. */
export class WorkingDirectory {
  readonly #workspace: () => Workspace;
  /** The root of the worktree that the session has entered. */
  #worktree: string | undefined;
  #current: string | undefined;

  /** `workspace` has the directory of the project and the directories added to it. */
  constructor(workspace: () => Workspace) {
    this.#workspace = workspace;
  }

  get current(): string {
    return this.#current ?? this.base;
  }

  /** The members of the workspace that differ from those of the project. */
  get members(): Pick<Workspace, 'directory' | 'roots'> & Partial<Pick<Workspace, 'directories'>> {
    const { current } = this;
    return {
      ...(current !== this.#workspace().cwd && { directory: current }),
      ...(this.#worktree !== undefined && {
        roots: [this.#worktree],
        directories: [...this.#workspace().directories, this.#worktree],
      }),
    };
  }

  /**
   * Follows a command into a directory of the workspace. For any other directory, the next command starts in `base`,
   * and a note is returned.
   */
  move(directory: string | undefined): string | undefined {
    if (directory === undefined || directory === this.current) return undefined;
    if (isInWorkspace(directory, { ...this.#workspace(), ...this.members })) {
      this.#current = directory;
      return undefined;
    }
    this.#current = undefined;
    return `Shell cwd was reset to ${this.base}`;
  }

  /** The directory of the project, or of the worktree that was entered. */
  get base(): string {
    return this.#worktree ?? this.#workspace().cwd;
  }

  /** Enters a worktree; undefined leaves it. */
  enter(worktree: string | undefined): void {
    this.#worktree = worktree;
    this.#current = undefined;
  }
}
