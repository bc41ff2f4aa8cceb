import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ConfigContext, configContext } from '../../src/config/config-context.ts';

/** Directories that are removed after the test: a repository, a home, and a directory of managed files. */
export type ConfigPlace = {
  /** A repository, with a `.git` directory. */
  readonly project: string;
  /** `TOOLPLANE_HOME`. */
  readonly home: string;
  readonly userHome: string;
  readonly managed: string;
  /** The environment for a separate process. */
  readonly env: Record<string, string>;
  /** The context with these additional variables; by default `cwd` is the project. */
  world(variables?: Record<string, string>, cwd?: string): ConfigContext;
  /** Writes a string as it is and any other value as JSON; returns the path. */
  write(path: string, content: unknown): string;
};

export function configPlace(): ConfigPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'toolplane-config-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [project, userHome, managed] = ['project', 'person', 'managed'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  const home = join(userHome, '.toolplane');
  for (const directory of [join(project, '.git'), userHome, managed])
    mkdirSync(directory, { recursive: true });
  const env = {
    HOME: userHome,
    TOOLPLANE_HOME: home,
    TOOLPLANE_MANAGED_DIRECTORY: managed,
    TOOLPLANE_SECRETS: 'file',
  };
  return {
    project,
    home,
    userHome,
    managed,
    env,
    world: (variables = {}, cwd = project) =>
      configContext({ cwd, env: { ...env, ...variables }, userHome, platform: 'linux' }),
    write(path, content) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return path;
    },
  };
}
