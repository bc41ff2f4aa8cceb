import { join } from 'node:path';
import { isRecord } from '../../base/is-record.ts';
import { applicationData } from './application-data.ts';
import type { ForeignTool } from './foreign.ts';
import { serversAt } from './servers-at.ts';
import { COMMON, offIf, silent, told } from './turns.ts';
import { plainText } from './variables.ts';

export const ZED: ForeignTool = {
  id: 'zed',
  title: 'Zed',
  format: 'json',
  places: (world) => {
    const { platform, userHome, project } = world;
    const user = platform === 'darwin' ? join(userHome, '.config', 'zed') : applicationData(world);
    const directory = platform === 'darwin' ? user : join(user, platform === 'win32' ? 'Zed' : 'zed');
    return [
      { path: join(directory, 'settings.json'), from: 'user' },
      { path: join(project, '.zed', 'settings.json'), from: 'project' },
    ];
  },
  servers: (file, { from }) => serversAt(file, ['context_servers'], from),
  rewrite: plainText,
  turns: {
    ...COMMON,
    // Once the command was an object of its own.
    command: (value) => {
      if (!isRecord(value)) return { put: { command: value } };
      const { path, args, env } = value;
      return { put: { command: path, ...(args != null && { args }), ...(env != null && { env }) } };
    },
    source: (value) =>
      value === 'extension' ? { fault: 'it comes with an extension of Zed, which starts it' } : {},
    enabled: offIf(false),
    settings: told('they are those of an extension'),
    remote: silent,
  },
};
