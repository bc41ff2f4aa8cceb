import { estimateTextTokens } from '../../../base/text/display-text.ts';
import type { HostTool } from '../../../host/host-options.ts';
import type { ServerStatus } from '../../../mcp/servers/server-status.ts';
import { describeDeferred, disclose, toolBudget } from '../../../pool/disclosure.ts';
import type { ToolChange } from '../../../pool/pinning/tool-change.ts';
import type { Pool, PoolDiagnostic, PooledTool } from '../../../pool/pool.ts';
import { poolTokenCost, tokenCost } from '../../../pool/token-cost.ts';

import { connectFault, formatChange, type Warning } from '../../host/with-host.ts';

/** The JSON document of `toolplane tools --json`. */
export type ToolsReport = {
  readonly servers: readonly ServerReport[];
  /** Configured servers that may not be started. */
  readonly notStarted: readonly { readonly name: string; readonly state: string; readonly why: string }[];
  readonly totals: Totals;
  /** Search results, best first. */
  readonly matches?: readonly Match[];
};

export type ServerReport = {
  readonly name: string;
  readonly status: ServerStatus['state'];
  readonly era?: 'legacy' | 'modern';
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly tools: readonly ToolReport[];
  readonly tokens: number;
  readonly warnings: readonly string[];
  readonly error?: string;
};

/** A tool as its server lists it, with its full name and token cost. */
export type ToolReport = Pick<
  HostTool,
  'name' | 'title' | 'description' | 'annotations' | 'inputSchema' | 'outputSchema'
> & { readonly pooledName: string; readonly tokens: number };

/** Token costs of all definitions, and with tool search. */
type Totals = {
  readonly servers: number;
  readonly connected: number;
  readonly tools: number;
  readonly tokens: number;
  readonly window: number;
  /** Tokens sent with tool search: the search tool, the names, and tools that are always loaded. */
  readonly withToolSearch: number;
  /** Tool search starts above this number of tokens, unless configured otherwise. */
  readonly searchAbove: number;
};

export type Match = {
  readonly server: string;
  readonly name: string;
  readonly pooledName: string;
  readonly score: number;
};

/** The state after every server has connected or failed. */
type Found = {
  readonly statuses: Readonly<Record<string, ServerStatus>>;
  readonly tools: readonly HostTool[];
  readonly warnings: readonly Warning[];
  readonly pool: Pool;
  /** Tools that differ from the accepted definitions. */
  readonly changes: readonly ToolChange[];
};

/** One report per server, in the order of the configuration. */
export function serverReports({ statuses, tools, warnings, pool, changes }: Found): ServerReport[] {
  return Object.entries(statuses).map(([name, status]) => {
    const { state, era, protocolVersion, serverInfo } = status;
    const pooled = pool.byServer.get(name);
    const its = toolReports(
      tools.filter(({ server }) => server === name),
      pooled,
    );
    const error = connectFault(status);
    return {
      name,
      status: state,
      ...(era && { era }),
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(serverInfo && { serverInfo }),
      tools: its,
      tokens: its.reduce((sum, { tokens }) => sum + tokens, 0),
      warnings: [
        ...warnings.filter(({ server }) => server === name).map(({ message }) => message),
        ...pool.diagnostics.filter(({ origin }) => isOf(origin, name)).map(formatRenamed),
        ...changes
          .filter(({ server }) => server === name)
          .map((it) => `tool ${JSON.stringify(it.tool)}: ${formatChange(it)}`),
      ],
      ...(error !== undefined && { error }),
    };
  });
}

function toolReports(
  listed: readonly HostTool[],
  pooled: ReadonlyMap<string, PooledTool> | undefined,
): ToolReport[] {
  const left = new Map(pooled);
  return listed.flatMap((tool) => {
    const offered = left.get(tool.name);
    if (!offered) return [];
    // A tool that is listed twice is reported once.
    left.delete(tool.name);
    const { name, title, description, annotations, inputSchema, outputSchema } = offered.listed;
    return [
      {
        name,
        pooledName: offered.name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(annotations && { annotations }),
        inputSchema,
        ...(outputSchema && { outputSchema }),
        tokens: tokenCost(offered),
      },
    ];
  });
}

function isOf(origin: PoolDiagnostic['origin'], server: string): boolean {
  return origin.kind === 'mcp' && origin.server === server;
}

/** Why a tool has another name than its own. */
export function formatRenamed({ fault, origin, wanted, name }: PoolDiagnostic): string {
  const tool = `tool ${JSON.stringify(origin.tool)}`;
  switch (fault) {
    case 'listed-twice':
      return `${tool} is listed more than once; the first is offered`;
    case 'name-taken':
      return `${tool} is offered as ${name}: another tool already has the name ${wanted}`;
    case 'name-too-long':
      return `${tool} is offered as ${name}: its full name is too long for models`;
    case 'name-empty':
      return `${tool} is offered as ${name}: its name is empty`;
  }
}

/** The context window that shares refer to. */
const WINDOW = 200_000;

/** `pool` has the search tool as its only built-in tool. */
export function totalsOf(servers: readonly ServerReport[], pool: Pool): Totals {
  const { total, builtIns } = poolTokenCost(pool);
  const { disclosed: sent, searchable } = disclose(pool, 0, { names: new Set(), loaded: new Set() });
  const definitions = sent.reduce((sum, tool) => sum + tokenCost(tool), 0);
  return {
    servers: servers.length,
    connected: servers.filter(({ status }) => status === 'connected').length,
    tools: servers.reduce((sum, { tools }) => sum + tools.length, 0),
    tokens: total - builtIns,
    window: WINDOW,
    withToolSearch: definitions + estimateTextTokens(describeDeferred(searchable)),
    searchAbove: toolBudget(undefined, WINDOW),
  };
}
