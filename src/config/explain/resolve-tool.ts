import { nearest } from '../../base/text/nearest.ts';
import type { ToolRef } from '../../permissions/match.ts';
import { guessToolName, mcpToolName, mcpToolPrefix, normalizeName } from '../../protocol/tool-name.ts';
import type { Configuration } from '../configuration.ts';

/** A tool that a connected server lists. */
export type LiveTool = {
  /** The name that models see. */
  readonly name: string;
  readonly server: string;
  /** The name that the server lists. */
  readonly tool: string;
};

/** The tool that a text names: `mcp__server__tool`, an alias, `server/tool`, or the name of a built-in tool. */
export function resolveTool(
  { merged }: Pick<Configuration, 'merged'>,
  text: string,
  live: readonly LiveTool[] = [],
): ToolRef {
  const servers = merged.servers.map(({ name }) => name);
  const listed =
    live.find(({ name }) => name === text) ??
    live.find(({ server, tool }) => `${server}/${tool}` === text) ??
    onlyOne(live.filter(({ tool }) => tool === text));
  if (listed) return { ...listed, servers };
  const split = servers.filter((server) => text.startsWith(`${server}/`)).sort(longestFirst)[0];
  if (split !== undefined) return refOf(split, text.slice(split.length + 1), servers);
  const owner = servers.filter((server) => text.startsWith(mcpToolPrefix(server))).sort(longestFirst)[0];
  if (owner === undefined) return { name: text, servers };
  const tool = text.slice(mcpToolPrefix(owner).length);
  return { name: text, server: owner, tool, servers };
}

/** Configured names that differ in case, in characters that names for models cannot contain, or by a typo. */
export function similarNames({ merged }: Pick<Configuration, 'merged'>, name: string): string[] {
  const known = [...merged.servers.map((it) => it.name), ...merged.lost.map((it) => it.written.name)];
  const plain = (text: string) => normalizeName(text).toLowerCase();
  const same = known.filter((it) => plain(it) === plain(name));
  const suggestion = nearest(name, known);
  return [...new Set([...same, ...(suggestion === undefined ? [] : [suggestion])])];
}

function refOf(server: string, tool: string, servers: readonly string[]): ToolRef {
  return { name: mcpToolName(server, tool), server, tool, servers };
}

function onlyOne<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined;
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length;
}

/** The most likely tool for an unknown name: the same tool of a server with a similar name, or a built-in tool. */
export function suggestTool(
  configuration: Pick<Configuration, 'merged'>,
  name: string,
  builtIns: readonly string[],
): string | undefined {
  const { server, tool } = guessToolName(name) ?? {};
  if (server === undefined || tool === undefined) return nearest(name, builtIns);
  const [near] = similarNames(configuration, server);
  return near === undefined ? undefined : mcpToolName(near, tool);
}
