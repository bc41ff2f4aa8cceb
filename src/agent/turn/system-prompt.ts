import { truncate } from '../../base/text/display-text.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import { describeDeferred } from '../../pool/disclosure.ts';
import { stripHidden } from '../../pool/pinning/hidden-text.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { Session } from '../session/session.ts';

type PromptParts = {
  readonly own: string;
  readonly append: string;
  /** Facts about the environment. */
  readonly environment?: string;
  readonly servers: ReadonlyMap<string, Server>;
  /** Whether the agent has `connect_mcp`, which connects servers on demand. */
  readonly canConnect: boolean;
  /** Deferred tools, which only a search finds. */
  readonly searchable: readonly PooledTool[];
};

export const DEFAULT_SYSTEM_PROMPT =
  'You are an agent with tools. Use them to gather information and to do what the user asks; report briefly what you did and the outcome. Never claim anything that no tool result shows.';

/** Maximum number of characters of the instructions of a server, so that they cannot fill the context window. */
const MAX_INSTRUCTIONS_LENGTH = 4_096;

/** The program's prompt, the instructions of servers, the servers that can be connected, and the deferred tools. */
export function systemPrompt({
  own,
  append,
  environment = '',
  servers,
  canConnect,
  searchable,
}: PromptParts): string {
  return [
    own,
    append,
    environment,
    instructions(servers),
    canConnect ? connectableServers(servers) : '',
    describeDeferred(searchable),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function instructions(servers: ReadonlyMap<string, Server>): string {
  const sections = [...servers].flatMap(([name, { state }]) => {
    const text = state.kind === 'connected' ? state.connection.instructions?.trim() : undefined;
    // Invisible text is not sent to the model.
    return text ? [`## ${name}\n${truncate(stripHidden(text), MAX_INSTRUCTIONS_LENGTH, '… [cut]')}`] : [];
  });
  return sections.length === 0
    ? ''
    : `# MCP servers\nInstructions from the servers on how to use their tools:\n\n${sections.join('\n\n')}`;
}

function connectableServers(servers: ReadonlyMap<string, Server>): string {
  const names = [...servers].flatMap(([name, { state }]) => (state.kind === 'waiting' ? [name] : []));
  if (names.length === 0) return '';
  return `# Servers you can connect\nNot connected yet: ${names.join(', ')}. connect_mcp connects a server by its name; its tools are available afterwards.`;
}

/** The prompt of the program, else that of the agent that it selected for the lead, else the default. */
function ownPrompt({ systemPrompt: given, lead }: Session): string {
  return lead && (given === '' || given === DEFAULT_SYSTEM_PROMPT) ? lead.prompt : given;
}

/** The lead's system prompt for the next request. */
export function currentSystemPrompt(session: Session): string {
  const pool = session.pool();
  return systemPrompt({
    own: ownPrompt(session),
    append: session.appendSystemPrompt,
    environment: session.environment?.section(session.modelName) ?? '',
    servers: session.servers.all,
    canConnect: pool.byName.has('connect_mcp'),
    searchable: session.disclosure.divide(pool).searchable,
  });
}
