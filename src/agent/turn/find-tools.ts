import type { Pool } from '../../pool/assemble.ts';
import type { ToolIndex } from '../../pool/search/tool-index.ts';
import { searchPool, serversOf } from '../../pool/search-pool.ts';
import type { FoundTools } from '../builtins/built-in.ts';
import type { ToolShelf } from './tool-shelf.ts';

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
