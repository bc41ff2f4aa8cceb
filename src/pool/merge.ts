import { alias, aliasOf } from './alias.ts';
import type { Candidate } from './candidates.ts';
import { compareNames, weigh } from './order.ts';
import type { Pool, PoolDiagnostic, PooledTool } from './pool.ts';

/** What one origin offers, in the order of names; `server` is undefined for built-ins. */
export type Offer = { readonly server: string | undefined; readonly candidates: readonly Candidate[] };

/** Gives each tool a name of its own: the first to want one has it, those after get an alias. */
export function merge(offers: readonly Offer[], limit: number): Pool {
  const byName = new Map<string, PooledTool>();
  const builtIns: Candidate[] = [];
  const ofServers: Candidate[] = [];
  const repeats: Candidate[] = [];
  // Natural names are all given before any alias, so that an alias never takes one.
  const unnamed: { candidate: Candidate; part: Candidate[]; fault: PoolDiagnostic['fault'] }[] = [];
  for (const { server, candidates } of offers) {
    const part = server === undefined ? builtIns : ofServers;
    for (const candidate of candidates) {
      const { name, tool, first } = candidate;
      const fault = faultOf(name, limit, byName);
      if (first !== undefined) repeats.push(candidate);
      else if (fault !== undefined) unnamed.push({ candidate, part, fault });
      else {
        byName.set(name, tool);
        part.push(candidate);
      }
    }
  }
  const diagnostics: PoolDiagnostic[] = [];
  const aliases = new Map<PooledTool, string>();
  for (const { candidate, part, fault } of unnamed) {
    const { name: wanted, tool } = candidate;
    const { origin } = tool;
    const name = aliasOf(wanted, origin, limit, byName);
    const aliased = alias(tool, name);
    byName.set(name, aliased);
    part.push({ ...candidate, name, weight: weigh(name), tool: aliased });
    aliases.set(tool, name);
    diagnostics.push({ fault, origin, wanted, name });
  }
  for (const { name: wanted, tool, first = tool } of repeats) {
    const name = aliases.get(first) ?? wanted;
    diagnostics.push({ fault: 'listed-twice', origin: tool.origin, wanted, name });
  }
  const tools = builtIns
    .sort(compareNames)
    .concat(ofServers.sort(compareNames))
    .map(({ tool }) => tool);
  let byServer: Pool['byServer'] | undefined;
  return {
    tools,
    byName,
    // Few ask for it.
    get byServer() {
      byServer ??= indexByServer(offers, tools);
      return byServer;
    },
    cacheAfter: builtIns.length - 1,
    diagnostics,
  };
}

function faultOf(
  name: string,
  limit: number,
  taken: ReadonlyMap<string, unknown>,
): PoolDiagnostic['fault'] | undefined {
  if (name === '') return 'name-empty';
  if (name.length > limit) return 'name-too-long';
  return taken.has(name) ? 'name-taken' : undefined;
}

function indexByServer(offers: readonly Offer[], tools: readonly PooledTool[]): Pool['byServer'] {
  const index = new Map<string, Map<string, PooledTool>>();
  for (const { server } of offers) if (server !== undefined) index.set(server, new Map());
  for (const tool of tools) {
    if (tool.origin.kind === 'mcp') index.get(tool.origin.server)?.set(tool.origin.tool, tool);
  }
  return index;
}
