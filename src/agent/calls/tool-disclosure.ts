import { type Division, divide } from '../../pool/disclosure.ts';
import type { Pool } from '../../pool/pool.ts';
import { searchPool, serversOf } from '../../pool/search/search-pool.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import type { FoundTools } from '../builtins/built-in.ts';
import type { ModelMessage } from '../models/model.ts';

/** The tool that finds what is not told at once; without it everything is told. */
const TOOL_SEARCH = 'ToolSearch';

/** What one agent has been told of its pool: nothing it knows is taken away again, and what it finds comes last. */
export class ToolShelf {
  readonly #budgetTokens: number;
  readonly #names = new Set<string>();
  readonly #loaded = new Set<string>();
  #made: { readonly pool: Pool; readonly loaded: number; readonly division: Division } | undefined;

  constructor(budgetTokens: number) {
    this.#budgetTokens = budgetTokens;
  }

  /** What of the pool is told now; of one pool the same value until something is loaded. */
  divide(pool: Pool): Division {
    if (this.#made?.pool === pool && this.#made.loaded === this.#loaded.size) return this.#made.division;
    const budget = pool.byName.has(TOOL_SEARCH) ? this.#budgetTokens : Infinity;
    const division = divide(pool, budget, { names: this.#names, loaded: this.#loaded });
    this.#made = { pool, loaded: this.#loaded.size, division };
    return division;
  }

  /** The same, for the one who does tell it. */
  tell(pool: Pool): Division {
    const division = this.divide(pool);
    for (const { name } of division.told) if (!this.#loaded.has(name)) this.#names.add(name);
    return division;
  }

  /** From the next round on these are told too. */
  load(names: Iterable<string>): void {
    for (const name of names) if (!this.#names.has(name)) this.#loaded.add(name);
  }
}

/** The tools a conversation has called: one that is gone on with knows them. */
export function calledTools(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role === 'assistant'
      ? message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []))
      : [],
  );
}

type FindWorld = {
  readonly pool: Pool;
  readonly index: ToolIndex;
  readonly shelf: ToolShelf;
  /** Servers that can be connected. */
  readonly waiting: readonly string[];
};

/** Finds servers' tools by name or by what they do, and puts them on the shelf. */
export async function findTools(
  text: string,
  limit: number,
  { pool, index, shelf, waiting }: FindWorld,
): Promise<FoundTools> {
  const { told, searchable } = shelf.divide(pool);
  const known = new Set(told);
  const { tools, unknown, unknownServer } = await searchPool(text, { limit }, { pool, index });
  shelf.load(tools.map(({ name }) => name));
  return {
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      isTold: known.has(tool),
    })),
    unknown,
    ...(unknownServer && { unknownServer }),
    searchable: searchable.length,
    servers: serversOf(pool),
    waiting,
  };
}
