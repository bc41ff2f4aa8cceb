import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { visibleText } from '../../base/text/display-text.ts';
import { autoMemoryText } from '../memory/memory.ts';
import { upwards } from '../memory/memory-files.ts';
import { gitState } from './git-state.ts';

export type EnvironmentOptions = {
  readonly cwd: string;
  readonly platform: string;
  /** The name and version of the operating system. */
  readonly system: string;
  /** The variables that git may be started with. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The start of the session. */
  readonly startedAt: Date;
};

/**
 * Facts about the machine and the repository. They are part of the system prompt, or of the first reminder if the program
 * keeps its system prompt free of what differs between users.
 */
export class Environment {
  readonly #options: EnvironmentOptions;
  readonly #root: string | undefined;
  readonly #autoFolder: string | undefined;
  #git: Promise<string | undefined> | undefined;
  /** Whether the facts are in the first reminder. */
  isInReminder = false;
  /** Whether the agent's own prompt is used: then the state of the repository and the auto-memory folder are part of it. */
  hasOwnPrompt = false;

  /** `autoFolder` is the auto-memory folder, if there is one. */
  constructor(options: EnvironmentOptions, autoFolder: string | undefined) {
    this.#options = options;
    this.#autoFolder = autoFolder;
    this.#root = upwards(options.cwd).find((it) => existsSync(join(it, '.git')));
  }

  /** The section of the system prompt; empty if the facts are in a reminder. */
  section(modelName: string): string {
    return this.isInReminder ? '' : this.#facts(modelName);
  }

  async beforePrompt(
    { isFirst, modelName }: { readonly isFirst: boolean; readonly modelName: string },
    signal: AbortSignal,
  ): Promise<string[]> {
    if (!isFirst) return [];
    const facts = this.isInReminder ? [this.#facts(modelName)] : [];
    if (!this.hasOwnPrompt || this.#root === undefined) return facts;
    // Read once: the state is that of the start of the session.
    this.#git ??= gitState(this.#root, this.#options.cwd, this.#options.env, signal);
    const git = await this.#git;
    return git === undefined ? facts : [...facts, git];
  }

  #facts(modelName: string): string {
    const { cwd, platform, system, env, startedAt } = this.#options;
    const shell = env.SHELL ?? env.COMSPEC;
    const facts = [
      `Working directory: ${cwd}`,
      `Git repository: ${this.#root === undefined ? 'no' : 'yes'}`,
      `Platform: ${platform} (${system})`,
      ...(shell ? [`Shell: ${basename(shell)}`] : []),
      `Date at the start of the session: ${localDate(startedAt)}`,
      `Model: ${modelName}`,
    ];
    const section = `# Environment\n${facts.map((it) => `- ${visibleText(it)}`).join('\n')}`;
    return this.hasOwnPrompt && this.#autoFolder !== undefined
      ? `${section}\n\n${autoMemoryText(this.#autoFolder)}`
      : section;
  }
}

/** The date in the time zone of the machine. */
function localDate(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
