import { nearest } from '../../base/nearest.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { Configuration } from '../configuration.ts';
import { nearNames } from './resolve-tool.ts';

/** The tool that was most likely meant by a name that nobody has: of a server that is nearly called so, or a built-in. */
export function meantTool(
  configuration: Pick<Configuration, 'merged'>,
  name: string,
  builtIns: readonly string[],
): string | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  if (server === undefined || tool === undefined) return nearest(name, builtIns);
  const [near] = nearNames(configuration, server);
  return near === undefined ? undefined : mcpToolName(near, tool);
}
