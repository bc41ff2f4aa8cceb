import { join } from 'node:path';
import { isRecord } from '../../base/is-record.ts';
import type { ForeignTool, RawServer } from './foreign.ts';
import { bracedText } from './own-places.ts';
import { serversAt } from './servers-at.ts';
import { COMMON, same, told } from './turns.ts';

/** One file for everything: the person's servers, and those of each directory. */
export const CLAUDE_CODE: ForeignTool = {
  id: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  places: ({ userHome, env }) => [
    { path: join(env.CLAUDE_CONFIG_DIR || userHome, '.claude.json'), from: 'user' },
  ],
  servers: (file, { from }, { project, cwd }) => [
    ...serversAt(file, ['mcpServers'], from),
    ...[...new Set([cwd, project])].flatMap((directory) => ofDirectory(file, directory)),
  ],
  rewrite: bracedText,
  turns: {
    ...COMMON,
    headersHelper: same,
    timeout: same,
    alwaysLoad: same,
    oauth: told('sign in here once that is possible'),
  },
};

function ofDirectory(file: Readonly<Record<string, unknown>>, directory: string): RawServer[] {
  const project = isRecord(file.projects) ? file.projects[directory] : undefined;
  const off = isRecord(project) ? project.disabledMcpServers : undefined;
  const names: readonly unknown[] = Array.isArray(off) ? off : [];
  return serversAt(file, ['projects', directory, 'mcpServers'], 'project').map((server) => ({
    ...server,
    isOff: names.includes(server.name),
  }));
}
