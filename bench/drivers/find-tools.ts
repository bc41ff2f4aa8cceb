// Runs queries against the tool search. Arguments: the URL of the built `internals/pool.ts`, then { file } as JSON: the queries and the expected tools.
import type * as PoolModule from '../internals/pool.ts';
import { readQueries } from '../queries.ts';
import { realServers } from './real-tools.ts';

export type FindTask = { file: string };
type Hits = { count: number; at5: number; at10: number };
export type FindReport = Hits & {
  tools: number;
  kinds: (Hits & { kind: string })[];
  /** Tokens of a search and five tools as a share of all definitions; `all` is the text for the total. */
  sent: { mean: number; most: number; all: string };
};

const [url, { file }] = process.argv.slice(2).map((arg) => JSON.parse(arg)) as [string, FindTask];
const { assemble, TOOL_SEARCH, ToolIndex }: typeof PoolModule = await import(url);

const { tools } = assemble({ builtIns: [], servers: new Map(realServers()), maxNameLength: 128 });
const index = new ToolIndex();
index.sync(tools);
const all = tools.reduce((sum, tool) => sum + tokens(tool), 0);
const own = tokens(TOOL_SEARCH.listed);
const sent: number[] = [];
const kinds = new Map<string, Hits>();
for (const { query, kind, server, tools: expected, also = [] } of readQueries(file)) {
  const found = await index.search({ text: query, limit: 10 });
  const right = new Set([...expected.map((tool) => `${server}/${tool}`), ...also]);
  const at = found.findIndex(
    ({ tool: { origin } }) => origin.kind === 'mcp' && right.has(`${origin.server}/${origin.tool}`),
  );
  const hits = kinds.get(kind) ?? { count: 0, at5: 0, at10: 0 };
  kinds.set(kind, hits);
  hits.count += 1;
  if (at >= 0 && at < 5) hits.at5 += 1;
  if (at >= 0) hits.at10 += 1;
  sent.push((own + found.slice(0, 5).reduce((sum, { tool }) => sum + tokens(tool), 0)) / all);
}
const report: FindReport = {
  ...sum([...kinds.values()]),
  tools: tools.length,
  kinds: Array.from(kinds, ([kind, hits]) => ({ kind, ...hits })),
  sent: {
    mean: sent.reduce((a, b) => a + b, 0) / sent.length,
    most: Math.max(...sent),
    all: `of ${Math.round(all)} tokens`,
  },
};
console.log(JSON.stringify(report));

/** Estimates four bytes of compact JSON per token. */
function tokens({
  name,
  description,
  inputSchema,
}: {
  name: string;
  description?: string;
  inputSchema: unknown;
}): number {
  return Buffer.byteLength(JSON.stringify({ name, description, input_schema: inputSchema })) / 4;
}

function sum(all: readonly Hits[]): Hits {
  const add = (key: keyof Hits) => all.reduce((total, hits) => total + hits[key], 0);
  return { count: add('count'), at5: add('at5'), at10: add('at10') };
}
