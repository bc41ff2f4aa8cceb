import { join } from 'node:path';
import { isRecord } from '../../base/is-record.ts';
import type { ForeignTool, RawServer } from './foreign.ts';
import { dollarText } from './own-places.ts';
import { serversAt } from './servers-at.ts';
import { COMMON, same, silent, told } from './turns.ts';

const SIGN_IN = told('sign in here once that is possible');

export const GEMINI: ForeignTool = {
  id: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  places: ({ userHome, project }) => [
    { path: join(userHome, '.gemini', 'settings.json'), from: 'user' },
    { path: join(project, '.gemini', 'settings.json'), from: 'project' },
  ],
  servers: (file, { from }) => {
    const excluded = isRecord(file.mcp) && Array.isArray(file.mcp.excluded) ? file.mcp.excluded : [];
    return serversAt(file, ['mcpServers'], from).map((server) => ({
      ...asWeb(server),
      isOff: excluded.includes(server.name),
    }));
  },
  rewrite: dollarText,
  turns: {
    ...COMMON,
    timeout: same,
    includeTools: same,
    excludeTools: same,
    description: silent,
    trust: told('it would spare every question; say so here on purpose: "trust": true'),
    tcp: told('there is no such transport here'),
    oauth: SIGN_IN,
    authProviderType: SIGN_IN,
    targetAudience: SIGN_IN,
    targetServiceAccount: SIGN_IN,
  },
};

/** `httpUrl` beats `url`, which alone means server-sent events. */
function asWeb(server: RawServer): RawServer {
  if (!isRecord(server.value)) return server;
  const { httpUrl, url, type, ...rest } = server.value;
  if (httpUrl !== undefined) return { ...server, value: { ...rest, type: 'http', url: httpUrl } };
  if (url === undefined) return { ...server, value: { ...rest, ...(type !== undefined && { type }) } };
  return { ...server, value: { ...rest, type: type ?? 'sse', url } };
}
