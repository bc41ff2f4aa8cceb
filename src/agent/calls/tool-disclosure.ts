import { type Disclosure, disclose } from '../../pool/disclosure.ts';
import type { Pool } from '../../pool/pool.ts';
import { searchPool, serversOf } from '../../pool/search/search-pool.ts';
import type { FoundTools } from '../builtins/built-in.ts';
import type { ModelMessage } from '../models/model.ts';
import type { Agent } from './call-context.ts';

/** The tool that finds deferred tools; without it in the pool, no tool is deferred. */
const TOOL_SEARCH = 'ToolSearch';

/**
 * Which tools of the pool are sent to an agent's model and which are deferred. A tool that was sent once is never taken
 * back, and tools that a search found come last, so that prompt caches hold.
 */
export class ToolDisclosure {
  readonly #budgetTokens: number;
  readonly #sent = new Set<string>();
  readonly #loaded = new Set<string>();
  #last: { readonly pool: Pool; readonly loaded: number; readonly division: Disclosure } | undefined;

  constructor(budgetTokens: number) {
    this.#budgetTokens = budgetTokens;
  }

  /** The division of the pool now; for the same pool the same value, until more tools are loaded. */
  divide(pool: Pool): Disclosure {
    if (this.#last?.pool === pool && this.#last.loaded === this.#loaded.size) return this.#last.division;
    const budget = pool.byName.has(TOOL_SEARCH) ? this.#budgetTokens : Infinity;
    const division = disclose(pool, budget, { names: this.#sent, loaded: this.#loaded });
    this.#last = { pool, loaded: this.#loaded.size, division };
    return division;
  }

  /** Divides the pool for a request to the model, and remembers which tools it sends. */
  disclose(pool: Pool): Disclosure {
    const division = this.divide(pool);
    for (const { name } of division.disclosed) if (!this.#loaded.has(name)) this.#sent.add(name);
    return division;
  }

  /** Sends these tools too, from the next request on. */
  load(names: Iterable<string>): void {
    for (const name of names) if (!this.#sent.has(name)) this.#loaded.add(name);
  }
}

/** The names of the tools that a conversation has called, so that a resumed conversation keeps them. */
export function calledTools(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []))
      : [],
  );
}

/** Finds tools of servers by name or purpose, and discloses them. */
export async function findTools(
  query: string,
  limit: number,
  agent: Pick<Agent, 'pool' | 'index' | 'disclosure' | 'servers'>,
): Promise<FoundTools> {
  const pool = agent.pool();
  const { disclosed: listed, searchable } = agent.disclosure.divide(pool);
  const disclosed = new Set(listed);
  const { tools, unknown, unknownServer } = await searchPool(query, { limit }, { pool, index: agent.index });
  agent.disclosure.load(tools.map(({ name }) => name));
  return {
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      isDisclosed: disclosed.has(tool),
    })),
    unknown,
    ...(unknownServer && { unknownServer }),
    searchable: searchable.length,
    servers: serversOf(pool),
    waiting: connectableServers(agent),
  };
}

/** The servers that `connect_mcp` can connect, if the agent has that tool. */
function connectableServers(agent: Pick<Agent, 'pool' | 'servers'>): string[] {
  if (!agent.pool().byName.has('connect_mcp')) return [];
  return [...agent.servers()].flatMap(([key, { state }]) => (state.kind === 'waiting' ? [key] : []));
}
