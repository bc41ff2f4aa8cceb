import { truncate } from '../../base/text/display-text.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import { sayDeferred } from '../../pool/disclosure.ts';
import { stripHidden } from '../../pool/pinning/hidden-text.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { Session } from '../session/session.ts';

type PromptParts = {
  /** What the program wants said; empty says nothing. */
  readonly own: string;
  readonly append: string;
  readonly servers: ReadonlyMap<string, Server>;
  /** Whether there is a tool to dial the servers that wait. */
  readonly canConnect: boolean;
  /** Tools that only a search finds. */
  readonly searchable: readonly PooledTool[];
};

/** What an agent is told that nobody gave a prompt. */
export const DEFAULT_SYSTEM_PROMPT =
  'You are an agent with tools. Use them to find out and to do what the user asks; say briefly what you did and what came of it. Never claim what no tool showed you.';

/** Instructions longer than this are cut: a server must not fill the window by talking. */
const MAX_INSTRUCTIONS_LENGTH = 4_096;

/** The system prompt as things are now: what the program says, then what servers say of themselves, and who can be called. */
export function systemPrompt({ own, append, servers, canConnect, searchable }: PromptParts): string {
  return [own, append, instructions(servers), canConnect ? waiting(servers) : '', sayDeferred(searchable)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function instructions(servers: ReadonlyMap<string, Server>): string {
  const said = [...servers].flatMap(([name, { state }]) => {
    const said = state.kind === 'connected' ? state.connection.instructions?.trim() : undefined;
    // What people cannot see, a model is not told.
    return said ? [`## ${name}\n${truncate(stripHidden(said), MAX_INSTRUCTIONS_LENGTH, '… [cut]')}`] : [];
  });
  return said.length === 0
    ? ''
    : `# MCP servers\nWhat servers say about the use of their tools:\n\n${said.join('\n\n')}`;
}

function waiting(servers: ReadonlyMap<string, Server>): string {
  const names = [...servers].flatMap(([name, { state }]) => (state.kind === 'waiting' ? [name] : []));
  if (names.length === 0) return '';
  return `# Servers you can connect\nconnect_mcp connects one by its name; its tools are there from then on: ${names.join(', ')}.`;
}

/** The lead's system prompt as things are now. */
export function currentSystemPrompt(session: Session): string {
  const pool = session.pool();
  return systemPrompt({
    own: session.systemPrompt,
    append: session.appendSystemPrompt,
    servers: session.servers.all,
    canConnect: pool.byName.has('connect_mcp'),
    searchable: session.disclosure.divide(pool).searchable,
  });
}
