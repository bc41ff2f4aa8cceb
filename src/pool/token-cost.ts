import type { JsonSchema } from '../protocol/mcp.ts';
import type { Pool, PooledTool } from './pool.ts';

// Bytes per token, measured with a public tokenizer (o200k) over 4,583 real definitions of 141 servers. The estimated sum
// is within 1 % of the measured one; nine of ten servers are within 14 %, nine of ten tools within 17 %.
const BYTES_OF_NAME = 3.4;
const BYTES_OF_DESCRIPTION = 4.7;
const BYTES_OF_SCHEMA = 4.2;
/** Keys, quotes and braces around name, description and schema. */
const FRAME = 13;

/** The estimated tokens of a tool's definition in a request. */
export function definitionTokens(name: string, description: string, schema: JsonSchema): number {
  const text =
    Buffer.byteLength(name) / BYTES_OF_NAME + Buffer.byteLength(description) / BYTES_OF_DESCRIPTION;
  return Math.ceil(FRAME + text + schemaBytes(schema) / BYTES_OF_SCHEMA);
}

/** The estimated tokens of one tool as it is sent to a model. */
export function tokenCost(tool: PooledTool): number {
  const known = prices.get(tool);
  if (known !== undefined) return known;
  const price = definitionTokens(tool.name, tool.description, tool.inputSchema);
  prices.set(tool, price);
  return price;
}

/** The estimated tokens of a pool, by server key; servers without tools are included. */
export type PoolTokenCost = {
  readonly total: number;
  readonly builtIns: number;
  readonly servers: ReadonlyMap<string, { readonly tools: number; readonly tokens: number }>;
};

/** The tokens of all definitions in a pool, by origin. */
export function poolTokenCost({ tools, cacheAfter, byServer }: Pool): PoolTokenCost {
  const builtIns = sum(tools.slice(0, cacheAfter + 1));
  const servers = new Map(
    Array.from(byServer, ([server, its]) => [server, { tools: its.size, tokens: sum(its.values()) }]),
  );
  return {
    total: [...servers.values()].reduce((all, { tokens }) => all + tokens, builtIns),
    builtIns,
    servers,
  };
}

const prices = new WeakMap<PooledTool, number>();
const lengths = new WeakMap<JsonSchema, number>();

/** Cached by schema, which is the longest part of a definition. */
function schemaBytes(schema: JsonSchema): number {
  const known = lengths.get(schema);
  if (known !== undefined) return known;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  lengths.set(schema, bytes);
  return bytes;
}

function sum(tools: Iterable<PooledTool>): number {
  let tokens = 0;
  for (const tool of tools) tokens += tokenCost(tool);
  return tokens;
}
