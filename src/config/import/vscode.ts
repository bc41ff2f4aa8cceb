import { join } from 'node:path';
import { applicationData } from './application-data.ts';
import type { ForeignTool } from './foreign.ts';
import { serversAt } from './servers-at.ts';
import { COMMON, silent, told } from './turns.ts';
import { editorText } from './variables.ts';

/** `servers` in files of their own, and in the settings of older versions. */
export const VSCODE: ForeignTool = {
  id: 'vscode',
  title: 'VS Code',
  format: 'json',
  places: (world) => {
    const user = join(applicationData(world), 'Code', 'User');
    return [
      { path: join(user, 'mcp.json'), from: 'user' },
      { path: join(user, 'settings.json'), from: 'user' },
      { path: join(world.project, '.vscode', 'mcp.json'), from: 'project' },
      { path: join(world.project, '.vscode', 'settings.json'), from: 'project' },
    ];
  },
  servers: (file, { path, from }) =>
    path.endsWith('settings.json')
      ? [['mcp', 'servers'], ['mcp.servers']].flatMap((way) => serversAt(file, way, from))
      : serversAt(file, ['servers'], from),
  rewrite: editorText,
  turns: {
    ...COMMON,
    // Its "http" falls back to server-sent events, as ours does without a type.
    type: (value) => (value === 'http' ? {} : { put: { type: value } }),
    gallery: silent,
    version: silent,
    envFile: told('put its variables into "env"'),
    dev: told(),
  },
};
