import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { type ConfigWorld, configWorld } from '../../host/config/world.ts';

/** Where this process looks for configuration. */
export function cliWorld(env: NodeJS.ProcessEnv): ConfigWorld {
  return configWorld({
    cwd: realpathSync.native(process.cwd()),
    env,
    userHome: env.HOME || homedir(),
    platform: process.platform,
  });
}
