import { execFile } from 'node:child_process';
import { withoutProjectPath } from '../../mcp/transports/stdio/server-environment.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type GitEnd = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** An expected failure of work with worktrees, as one line for the model. */
export class WorktreeError extends Error {}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** A checkout of a large repository takes minutes. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * Settings that override those of the repository: its hooks, its file watcher and its remotes must not make git run a
 * program or use the network.
 */
const SAFE_SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.editor=false',
  'sequence.editor=false',
  'commit.gpgSign=false',
  'protocol.allow=never',
  'submodule.recurse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
];

/**
 * Runs git in a repository that may be untrusted. Programs that the repository configures do not run: hooks, filters and
 * merge drivers of its own configuration are replaced. Those of the user's and the system's configuration run.
 */
export class SafeGit {
  readonly #directory: string;
  readonly #env: Record<string, string>;
  #overrides: Readonly<Record<string, string>> | undefined;

  constructor(directory: string, env: Environment) {
    this.#directory = directory;
    this.#env = safeEnvironment(env, directory);
  }

  /** The standard output; rejects with a `WorktreeError` if git fails. */
  async output(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, signal);
    if (code === 0) return stdout;
    throw new WorktreeError(`git ${args[0]} failed: ${firstLine(stderr) || `exit code ${code}`}`);
  }

  /** Runs git in `directory`, by default that of the repository. */
  async run(args: readonly string[], signal?: AbortSignal, directory = this.#directory): Promise<GitEnd> {
    this.#overrides ??= overridesOf(await this.#ownPrograms(signal));
    return this.#spawn(args, signal, directory, this.#overrides);
  }

  /** The names of the filters and merge drivers that the configuration of the repository defines. */
  async #ownPrograms(signal: AbortSignal | undefined): Promise<string[]> {
    const shown = ['--includes', '--show-scope', '-z', '--name-only'];
    const args = ['config', ...shown, '--get-regexp', PROGRAM_SETTING];
    const { stdout } = await this.#spawn(args, signal, this.#directory, {});
    const parts = stdout.split('\0');
    return parts.filter((_, at) => at % 2 === 1 && !/^(?:system|global)$/.test(parts[at - 1] ?? ''));
  }

  #spawn(
    args: readonly string[],
    signal: AbortSignal | undefined,
    cwd: string,
    overrides: Readonly<Record<string, string>>,
  ): Promise<GitEnd> {
    const settings = SAFE_SETTINGS.flatMap((it) => ['-c', it]);
    const options = {
      cwd,
      env: { ...this.#env, ...overrides },
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
      ...(signal && { signal }),
    };
    return new Promise((resolve, reject) => {
      const child = execFile('git', [...settings, ...args], options, (error, stdout, stderr) => {
        const code = error?.code ?? 0;
        if (signal?.aborted) reject(signal.reason);
        else if (typeof code === 'number') resolve({ code, stdout, stderr });
        else if (code === 'ENOENT')
          reject(new WorktreeError('git is not installed or not in PATH: install git to use worktrees'));
        else reject(new WorktreeError(`git ${args[0]} failed: ${messageOf(error)}`));
      });
      child.stdin?.end();
    });
  }
}

const PROGRAM_SETTING = '^(filter\\..*\\.(smudge|clean|process)|merge\\..*\\.driver)$';

/**
 * Variables that disable these programs: a filter without a command does nothing, and a merge driver that fails reports a
 * conflict. Variables, because a name in an argument could contain `=`.
 */
function overridesOf(names: readonly string[]): Record<string, string> {
  const settings = [...new Set(names)].flatMap((name) =>
    name.startsWith('merge.')
      ? [[name, 'false'] as const]
      : [[name, ''] as const, [name.replace(/\.\w+$/, '.required'), 'false'] as const],
  );
  const rows = settings.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name] as const,
    [`GIT_CONFIG_VALUE_${at}`, value] as const,
  ]);
  return { ...Object.fromEntries(rows), GIT_CONFIG_COUNT: String(settings.length) };
}

/** No variable of git itself is passed on: one could name another repository or a program. */
function safeEnvironment(env: Environment, project: string): Record<string, string> {
  const kept = Object.entries(withoutProjectPath(env, project)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('GIT_'),
  );
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
