import { homedir } from 'node:os';
import { type ConfigWorld, configWorld } from '../../config/config-context.ts';
import { workingDirectory } from './working-directory.ts';

/** Where this process looks for configuration. */
export function cliWorld(env: NodeJS.ProcessEnv): ConfigWorld {
  return configWorld({
    cwd: workingDirectory(),
    env,
    userHome: env.HOME || homedir(),
    platform: process.platform,
  });
}
