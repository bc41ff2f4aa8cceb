import { join } from 'node:path';
import { applicationData } from './application-data.ts';
import type { ForeignTool } from './foreign.ts';
import { serversAt } from './servers-at.ts';
import { COMMON, told } from './turns.ts';
import { plainText } from './variables.ts';

/** It starts commands only, and puts no variables in. */
export const CLAUDE_DESKTOP: ForeignTool = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  places: (world) => [
    { path: join(applicationData(world), 'Claude', 'claude_desktop_config.json'), from: 'user' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcpServers'], from),
  rewrite: plainText,
  turns: { ...COMMON, extensionId: told('it comes with an extension') },
};
