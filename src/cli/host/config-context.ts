import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { type ConfigContext, configContext } from '../../config/config-context.ts';
import { CommandFailed } from '../output/failure.ts';

/** The context in which this process reads configuration. */
export function cliContext(env: NodeJS.ProcessEnv): ConfigContext {
  return configContext({
    cwd: workingDirectory(),
    env,
    userHome: env.HOME || homedir(),
    platform: process.platform,
  });
}

/** The working directory without symbolic links; throws if it was removed. */
export function workingDirectory(): string {
  try {
    return realpathSync.native(process.cwd());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new CommandFailed('the working directory no longer exists; change to an existing directory');
  }
}
