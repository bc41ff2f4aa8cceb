import { join, resolve } from 'node:path';

/** The directories and environment that configuration is read from; all paths are absolute. */
export type ConfigContext = {
  /** The working directory, with symbolic links resolved. */
  readonly cwd: string;
  /** Toolplane's directory for the user: `TOOLPLANE_HOME`, by default `~/.toolplane`. */
  readonly home: string;
  /** The directory of the `claude` CLI for the user: `CLAUDE_CONFIG_DIR`, by default `~/.claude`. */
  readonly claudeHome: string;
  /** The user's home directory, where other programs keep their files. */
  readonly userHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The directories for managed files of the administrator; all of them apply. */
  readonly managed: readonly string[];
  /** The administrator's directory for the `claude` CLI; only restrictions of its settings apply. */
  readonly claudeManaged: string;
};

/** Derives the directories from the environment. */
export function configContext(surroundings: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
}): ConfigContext {
  const { cwd, env, platform, userHome } = surroundings;
  const added = env.TOOLPLANE_MANAGED_DIRECTORY;
  return {
    ...surroundings,
    home: env.TOOLPLANE_HOME ? resolve(cwd, env.TOOLPLANE_HOME) : join(userHome, '.toolplane'),
    claudeHome: env.CLAUDE_CONFIG_DIR ? resolve(cwd, env.CLAUDE_CONFIG_DIR) : join(userHome, '.claude'),
    // The added directory can only forbid more: the system directory takes precedence.
    managed: [systemDirectory(platform), ...(added ? [resolve(cwd, added)] : [])],
    claudeManaged: claudeSystemDirectory(platform),
  };
}

/** No variable changes this directory, so that a user cannot replace the administrator's policy. */
function systemDirectory(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return '/Library/Application Support/Toolplane';
  if (platform === 'win32') return 'C:\\ProgramData\\Toolplane';
  return '/etc/toolplane';
}

function claudeSystemDirectory(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  if (platform === 'win32') return 'C:\\Program Files\\ClaudeCode';
  return '/etc/claude-code';
}
