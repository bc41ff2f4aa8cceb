import { join } from 'node:path';
import type { ForeignWorld } from './foreign.ts';

/** Where programs keep what belongs to a person. */
export function applicationData({ platform, userHome, env }: ForeignWorld): string {
  if (platform === 'darwin') return join(userHome, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || join(userHome, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(userHome, '.config');
}
