import { didYouMean } from '../../../base/text/nearest.ts';
import type { HostTool } from '../../../host/host-options.ts';
import { isIncluded, toolFilterOf } from '../../../mcp/discovery/tool-filter.ts';
import { isAliasOf } from '../../../pool/unique-names.ts';
import { mcpToolName, mcpToolPrefix } from '../../../protocol/tool-name.ts';
import type { ServerMap } from '../../flags/server-flags.ts';
import type { Warning } from '../../host/with-host.ts';
import { CommandFailed, UsageError } from '../../output/failure.ts';

/** The server and tool that the first words name, and the remaining words. */
type CallTarget = {
  readonly server: string;
  readonly tool?: string;
  readonly words: readonly string[];
};

/**
 * Parses `<server> <tool>`, the full name (`mcp__<server>__<tool>`, or an alias of it) and `<server>/<tool>`.
 * A word that is a server's name is always that server.
 */
export function callTarget([first = '', ...rest]: readonly string[], servers: readonly string[]): CallTarget {
  const [second, ...words] = rest;
  const two = { server: first, ...(second !== undefined && { tool: second }), words };
  if (servers.includes(first)) return two;
  const owner = longest(servers.filter((server) => first.startsWith(mcpToolPrefix(server))));
  if (owner !== undefined) return { server: owner, tool: first, words: rest };
  const before = longest(servers.filter((server) => first.startsWith(`${server}/`)));
  if (before !== undefined) return { server: before, tool: first.slice(before.length + 1), words: rest };
  return two;
}

/** `mcp__a__b__c` is the tool `c` of the server `a__b`, if there is one. */
function longest(names: readonly string[]): string | undefined {
  return names.toSorted((a, b) => b.length - a.length)[0];
}

type Wanted = {
  readonly servers: ServerMap;
  readonly server: string;
  readonly tool: string;
  /** Warnings about the lists of the servers. */
  readonly warnings?: readonly Warning[];
};

/** Finds a tool by its own name, its full name or an alias; the error explains why there is none. */
export function findTool(
  tools: readonly HostTool[],
  { servers, server, tool, warnings = [] }: Wanted,
): HostTool {
  const its = tools.filter((it) => it.server === server);
  const found = its.find(({ name }) => name === tool);
  if (found) return found;
  const pooled = its.filter(({ name }) => mcpToolName(server, name) === tool);
  if (pooled[0] && pooled.length === 1) return pooled[0];
  const aliased = its.find(({ name }) => isAliasOf(tool, server, name));
  if (aliased) return aliased;
  const names = its.map(({ name }) => name);
  const own = ownName(server, tool);
  if (!isIncluded(own, toolFilterOf(servers[server]))) {
    throw new UsageError(
      `server ${server}: tool "${own}" is excluded by "includeTools" or "excludeTools" of the server entry (available: ${formatNames(names)})`,
    );
  }
  const fault = droppedFor(warnings, server, tool);
  if (fault !== undefined) {
    throw new CommandFailed(
      `server ${server}: tool "${own}" cannot be called: ${fault}; report this to the server's author`,
    );
  }
  const hint = didYouMean(own, names);
  throw new UsageError(`server ${server} has no tool "${own}"${hint} (available: ${formatNames(names)})`);
}

/** Why the host dropped a tool that its server lists. */
function droppedFor(warnings: readonly Warning[], server: string, tool: string): string | undefined {
  for (const { server: from, subject } of warnings) {
    if (from !== server || subject?.kind !== 'list' || subject.list !== 'tools') continue;
    const { entry, fault, outcome } = subject;
    if (outcome !== 'set-aside' || entry === undefined) continue;
    if (entry === tool || mcpToolName(server, entry) === tool) return fault;
  }
  return undefined;
}

/** The tool's own name, from a full name. */
function ownName(server: string, tool: string): string {
  const prefix = mcpToolName(server, '');
  return tool.startsWith(prefix) && tool.length > prefix.length ? tool.slice(prefix.length) : tool;
}

const MAX_NAMES = 30;

function formatNames(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return names.slice(0, MAX_NAMES).join(', ') + more;
}
