import type { Session } from './session.ts';
import { systemPrompt } from './system-prompt.ts';

/** The lead's system prompt as things are now. */
export function promptNow(session: Session): string {
  return systemPrompt({
    own: session.systemPrompt,
    append: session.appendSystemPrompt,
    servers: session.servers.all,
    canConnect: session.pool().byName.has('connect_mcp'),
  });
}
