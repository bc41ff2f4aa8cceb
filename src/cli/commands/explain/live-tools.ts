import { formatCount } from '../../../base/text/display-text.ts';
import type { Configuration } from '../../../config/configuration.ts';
import type { DroppedTool, LiveTools } from '../../../config/explain/explain-tool.ts';
import { resolveTool } from '../../../config/explain/resolve-tool.ts';
import type { ConfiguredServer } from '../../../config/model.ts';
import { assemble } from '../../../pool/assemble.ts';
import { toolBudget } from '../../../pool/disclosure.ts';
import { isUnremarkablyNew } from '../../../pool/pinning/tool-change.ts';
import type { PooledTool } from '../../../pool/pool.ts';
import { nearestToolName } from '../../../pool/search/search-pool.ts';
import { tokenCost } from '../../../pool/token-cost.ts';
import type { ServerMap } from '../../flags/server-flags.ts';
import { changedTools, formatChange, type Warning } from '../../host/with-host.ts';
import { type ConnectedServers, connectedTools } from '../../mcp/session.ts';
import { formatRenamed } from '../tools/report.ts';
import { BUILT_IN_NAMES, type ExplainRequest, toolName } from './answer.ts';

/** The servers that the explanation is about. */
export function serversToAsk(
  { merged }: Pick<Configuration, 'merged'>,
  request: ExplainRequest,
): readonly ConfiguredServer[] {
  const { servers } = merged;
  if (!request.connects || request.name === undefined) return [];
  if (request.about === 'server') return servers.filter(({ name }) => name === request.name);
  if (request.about !== 'tool') return [];
  const whole = toolName(request);
  const { server } = resolveTool({ merged }, whole);
  if (server !== undefined) return servers.filter(({ name }) => name === server);
  // The server of a tool's own name or alias is not known.
  return BUILT_IN_NAMES.includes(whole) ? [] : servers;
}

/** Maximum length of a tool name for most models. */
const MAX_NAME = 128;
/** The context window that budgets refer to. */
const WINDOW = 200_000;

/** The tools of the connected servers, with token cost and disclosure. */
export async function liveTools(
  { host, warnings, entries }: ConnectedServers,
  wanted: string,
  env: NodeJS.ProcessEnv,
): Promise<LiveTools> {
  const tools = await connectedTools(host);
  const servers = Map.groupBy(tools, ({ server }) => server);
  const always = Object.keys(entries).filter((key) => isAlwaysLoaded(entries[key]));
  const pool = assemble({
    builtIns: [],
    servers,
    maxNameLength: MAX_NAME,
    alwaysLoadServers: new Set(always),
  });
  const changes = changedTools(entries, tools, env, () => {});
  const live = pool.tools.flatMap((tool) => {
    const { origin, listed, name } = tool;
    if (origin.kind !== 'mcp') return [];
    const change = changes.find((it) => it.server === origin.server && it.tool === origin.tool);
    const renamed = pool.diagnostics.find((it) => it.name === name);
    return [
      {
        name,
        server: origin.server,
        tool: origin.tool,
        tokens: tokenCost(tool),
        ...(listed.annotations && { annotations: listed.annotations }),
        ...(change && { changed: formatChange(change) }),
        ...(change && isUnremarkablyNew(change) && { isNew: true }),
        ...(renamed && { renamed: formatRenamed(renamed) }),
        deferred: deferredOf(tool, pool.tools, origin.server),
      },
    ];
  });
  const suggestion = nearestToolName(
    wanted,
    live.map(({ name }) => name),
  );
  const dropped = droppedTools(warnings).filter(
    (it) => !live.some(({ server, tool }) => server === it.server && tool === it.tool),
  );
  return {
    tools: live,
    dropped,
    builtIns: BUILT_IN_NAMES,
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** Tools that discovery dropped from the lists. */
function droppedTools(warnings: readonly Warning[]): DroppedTool[] {
  return warnings.flatMap(({ server, subject }) => {
    if (subject?.kind !== 'list' || subject.list !== 'tools' || subject.outcome === 'kept') return [];
    const { entry: tool, fault } = subject;
    return [{ server, fault, ...(tool !== undefined && { tool }) }];
  });
}

/** Whether a tool is deferred depends on the tools of all servers; only those of this server are known here. */
function deferredOf(
  tool: PooledTool,
  all: readonly PooledTool[],
  server: string,
): LiveTools['tools'][number]['deferred'] {
  if (tool.alwaysLoad) return { is: false, says: 'always sent to the model' };
  const budget = toolBudget(undefined, WINDOW);
  const own = all
    .filter(({ origin }) => origin.kind === 'mcp' && origin.server === server)
    .reduce((sum, it) => sum + tokenCost(it), 0);
  const figures = `the tools of this server take about ${formatCount(own)} tokens of a budget of ${formatCount(budget)}`;
  return own > budget
    ? { is: true, says: `${figures}, so tool search is used` }
    : { is: false, says: `${figures}; tool search is used if the tools of all servers exceed the budget` };
}

function isAlwaysLoaded(entry: ServerMap[string] | undefined): boolean {
  return entry !== undefined && 'alwaysLoad' in entry && entry.alwaysLoad === true;
}
