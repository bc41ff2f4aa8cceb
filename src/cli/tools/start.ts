import { TOOL_SEARCH } from '../../agent/builtins/tool-search.ts';
import type { HostTool } from '../../host/host-options.ts';
import { assemble, type Pool } from '../../pool/assemble.ts';
import { parseQuery } from '../../pool/search/parse-query.ts';
import { ToolIndex } from '../../pool/search/tool-index.ts';
import { changedTools } from '../host/changed-tools.ts';
import { jsonText, lines } from '../host/lines.ts';
import type { NamedServers } from '../host/named-servers.ts';
import type { ServerMap } from '../host/server-flags.ts';
import { type Connected, tellFaults, withHost } from '../host/with-host.ts';
import { costTable } from './cost-table.ts';
import { type Match, serverReports, type ToolsReport } from './report.ts';
import { matchTable, toolTable } from './tool-table.ts';
import { totalsOf } from './totals.ts';

export type ToolsRequest = NamedServers & {
  readonly format: 'list' | 'cost' | 'json';
  readonly search?: string;
  /** How many a search gives at most. */
  readonly limit: number;
};

/** The longest name the strictest models take is 64; this is what most take. */
const MAX_NAME = 128;

/** `toolplane tools`; gives its exit code. */
export function startTools(request: ToolsRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request, env, async (connected) => {
    const report = await reportOf(connected, request, env);
    await connected.output.print(printed(report, request, connected.output.columns));
    if (request.format !== 'json') {
      for (const { name, warnings } of report.servers) {
        for (const warning of warnings) connected.output.tell(`server ${name}: ${warning}`);
      }
      if (report.matches?.length === 0) connected.output.tell('no tool was found; try other words');
    }
    return tellFaults(connected);
  });
}

async function reportOf(
  { host, warnings, output, aside }: Connected,
  request: ToolsRequest,
  env: NodeJS.ProcessEnv,
): Promise<ToolsReport> {
  const statuses = host.status();
  const listed = await host.listTools();
  const tools = listed.filter(({ server }) => statuses[server]?.state === 'connected');
  const pool = poolOf(request.servers, tools);
  const changes = changedTools(request.servers, tools, env, output.tell);
  const servers = serverReports({ statuses, tools, warnings, pool, changes });
  const matches =
    request.search === undefined ? undefined : await search(request.search, request.limit, pool);
  const notStarted = aside.map(({ server: name, state, why }) => ({ name, state, why }));
  return { servers, notStarted, totals: totalsOf(servers, pool), ...(matches && { matches }) };
}

function poolOf(entries: ServerMap, tools: readonly HostTool[]): Pool {
  return assemble({
    builtIns: [TOOL_SEARCH.listed],
    servers: Map.groupBy(tools, ({ server }) => server),
    maxNameLength: MAX_NAME,
    alwaysLoadServers: new Set(Object.keys(entries).filter((key) => isAlwaysLoaded(entries[key]))),
  });
}

function isAlwaysLoaded(entry: ServerMap[string] | undefined): boolean {
  return entry !== undefined && 'alwaysLoad' in entry && entry.alwaysLoad === true;
}

/** The same words find the same tools that they find for a model. */
async function search(text: string, limit: number, pool: Pool): Promise<Match[]> {
  const query = parseQuery(text);
  const ofServers = pool.tools.filter(({ origin }) => origin.kind === 'mcp');
  if (query.kind === 'select') {
    const named = ofServers.filter(({ name }) => query.names.includes(name));
    return named.flatMap((tool) => matchOf(tool, 1));
  }
  const index = new ToolIndex();
  index.sync(ofServers);
  const hits = await index.search({ ...query, limit });
  return hits.flatMap(({ tool, score }) => matchOf(tool, score));
}

function matchOf({ name: pooledName, origin }: Pool['tools'][number], score: number): Match[] {
  return origin.kind === 'mcp' ? [{ server: origin.server, name: origin.tool, pooledName, score }] : [];
}

function printed(
  report: ToolsReport,
  { format, search: text }: ToolsRequest,
  columns: number | undefined,
): string {
  if (format === 'json') return jsonText(report);
  if (text !== undefined) return lines(matchTable(report, columns));
  return lines(format === 'cost' ? costTable(report, columns) : toolTable(report, columns));
}
