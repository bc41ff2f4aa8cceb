import { join } from 'node:path';
import type { ForeignTool } from './foreign.ts';
import { serversAt } from './servers-at.ts';
import { COMMON, offIf, told } from './turns.ts';
import { editorText } from './variables.ts';

export const CURSOR: ForeignTool = {
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  places: ({ userHome, project }) => [
    { path: join(userHome, '.cursor', 'mcp.json'), from: 'user' },
    { path: join(project, '.cursor', 'mcp.json'), from: 'project' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcpServers'], from),
  rewrite: editorText,
  turns: {
    ...COMMON,
    // It finds out what is spoken there, as we do without a type.
    type: (value) => (value === 'streamableHttp' || value === 'http' ? {} : { put: { type: value } }),
    disabled: offIf(true),
    envFile: told('put its variables into "env"'),
    auth: told('sign in here once that is possible'),
    autoApprove: told('allow tools by rules: permissions.allow of the settings'),
  },
};
