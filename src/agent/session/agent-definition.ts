import { isRecord } from '../../base/json-value.ts';
import type { ServerEntry } from '../../mcp/connection/connect-context.ts';
import { readEntry } from '../../mcp/servers/server-entry.ts';

/** The definition of a kind of sub-agent. */
export type AgentDefinition = {
  /** Tells the delegating model when to use it. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** The tools it may use, by model-facing name or `mcp__server`; all by default. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly model?: string;
  readonly maxTurns?: number;
  /** The session's servers it may use, and entries of its own; all servers of the session by default. */
  readonly mcpServers?: readonly (string | Readonly<Record<string, ServerEntry>>)[];
};

/** The built-in kind. */
export const GENERAL_PURPOSE: Readonly<Record<string, AgentDefinition>> = {
  'general-purpose': {
    description: 'Works on a task of several steps by itself and reports what it found or did.',
    prompt:
      'You work on one task for another agent. Do it completely, then report what you found or did in a few sentences: your last message is all the other agent sees.',
  },
};

/** Parses `agents` of `initialize` or of `--agents`; invalid entries are dropped. */
export function parseAgents(value: unknown): Record<string, AgentDefinition> {
  const agents: [string, AgentDefinition][] = [];
  for (const [name, given] of Object.entries(isRecord(value) ? value : {})) {
    // `__proto__` would set the prototype of the record.
    if (name === '__proto__' || !isRecord(given) || typeof given.prompt !== 'string') continue;
    const { description, prompt, model, maxTurns, mcpServers } = given;
    const tools = strings(given.tools);
    const disallowedTools = strings(given.disallowedTools);
    const agent: AgentDefinition = {
      description: typeof description === 'string' ? description : name,
      prompt,
      ...(tools && { tools }),
      ...(disallowedTools && { disallowedTools }),
      ...(typeof model === 'string' && model !== 'inherit' && { model }),
      ...(typeof maxTurns === 'number' && { maxTurns }),
      ...(Array.isArray(mcpServers) && { mcpServers: mcpServers.flatMap(parseServers) }),
    };
    agents.push([name, agent]);
  }
  return Object.fromEntries(agents);
}

/** A name of a server of the session, or entries. An in-process server is one of the session; invalid entries are dropped. */
function parseServers(value: unknown): (string | Record<string, ServerEntry>)[] {
  if (typeof value === 'string') return [value];
  return Object.entries(isRecord(value) ? value : {}).flatMap<string | Record<string, ServerEntry>>(
    ([key, given]) => {
      if (isRecord(given) && given.type === 'sdk') return [key];
      try {
        return [{ [key]: readEntry(key, given) }];
      } catch {
        return [];
      }
    },
  );
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((it) => typeof it === 'string') : undefined;
}
