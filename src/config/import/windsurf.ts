import { join } from 'node:path';
import type { ForeignTool } from './foreign.ts';
import { serversAt } from './servers-at.ts';
import { as, COMMON, offIf, told } from './turns.ts';
import { editorText } from './variables.ts';

export const WINDSURF: ForeignTool = {
  id: 'windsurf',
  title: 'Windsurf',
  format: 'json',
  places: ({ userHome }) => [
    { path: join(userHome, '.codeium', 'windsurf', 'mcp_config.json'), from: 'user' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcpServers'], from),
  rewrite: editorText,
  turns: {
    ...COMMON,
    serverUrl: as('url'),
    disabled: offIf(true),
    disabledTools: as('excludeTools'),
    alwaysAllow: told('allow tools by rules: permissions.allow of the settings'),
  },
};
