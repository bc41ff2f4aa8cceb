import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { type ConfigContext, configContext } from '../../config/config-context.ts';
import { CommandFailed } from '../output/failure.ts';

/** Where this process looks for configuration. */
export function cliContext(env: NodeJS.ProcessEnv): ConfigContext {
  return configContext({
    cwd: workingDirectory(),
    env,
    userHome: env.HOME || homedir(),
    platform: process.platform,
  });
}

/** Where this process works, free of links; throws one clear line if somebody removed the directory. */
export function workingDirectory(): string {
  try {
    return realpathSync.native(process.cwd());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new CommandFailed('the working directory is gone: cd to one that exists');
  }
}
