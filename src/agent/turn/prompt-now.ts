import type { Session } from '../session/session.ts';
import { systemPrompt } from './system-prompt.ts';

/** The lead's system prompt as things are now. */
export function promptNow(session: Session): string {
  const pool = session.pool();
  return systemPrompt({
    own: session.systemPrompt,
    append: session.appendSystemPrompt,
    servers: session.servers.all,
    canConnect: pool.byName.has('connect_mcp'),
    searchable: session.shelf.divide(pool).searchable,
  });
}
