import { join, resolve } from 'node:path';

/** Where configuration is looked for; all paths are absolute. */
export type ConfigContext = {
  /** The directory people work in, links resolved. */
  readonly cwd: string;
  /** What Toolplane keeps for the person: `TOOLPLANE_HOME`, by default `~/.toolplane`. */
  readonly home: string;
  /** The person's own home, where other programs keep their files. */
  readonly userHome: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Where those who run the machine put their files; what any of them says counts. */
  readonly managed: readonly string[];
};

/** The surroundings as configuration takes them. */
export function configContext(around: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
}): ConfigContext {
  const { cwd, env, platform, userHome } = around;
  const more = env.TOOLPLANE_MANAGED_DIRECTORY;
  return {
    ...around,
    home: env.TOOLPLANE_HOME ? resolve(cwd, env.TOOLPLANE_HOME) : join(userHome, '.toolplane'),
    // One more can only add to what is forbidden, never take it away.
    managed: [systemDirectory(platform), ...(more ? [resolve(cwd, more)] : [])],
  };
}

/** No variable says where: who may set variables must not choose who rules. */
function systemDirectory(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return '/Library/Application Support/Toolplane';
  if (platform === 'win32') return 'C:\\ProgramData\\Toolplane';
  return '/etc/toolplane';
}
