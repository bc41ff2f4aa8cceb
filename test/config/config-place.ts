import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ConfigContext, configContext } from '../../src/config/config-context.ts';

/** Directories of a test's own that go away with it: a repository, a home, and what those who run the machine say. */
export type ConfigPlace = {
  /** A repository: it has `.git`. */
  readonly project: string;
  /** `TOOLPLANE_HOME`. */
  readonly home: string;
  readonly userHome: string;
  readonly managed: string;
  /** What a process of its own is given. */
  readonly env: Record<string, string>;
  /** As `configWorld` gives it, with `cwd` in the project and more variables. */
  world(variables?: Record<string, string>, cwd?: string): ConfigContext;
  /** Writes a text as it is and everything else as JSON; gives the path. */
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
  const env = { HOME: userHome, TOOLPLANE_HOME: home, TOOLPLANE_MANAGED_DIRECTORY: managed };
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
