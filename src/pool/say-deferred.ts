import type { PooledTool } from './assemble.ts';

/** While all names fit into so many characters they are told; above it, only how many each server has. */
const MOST_CHARACTERS = 8_000;

/** What a system prompt says of tools that only a search finds; it stays the same while servers offer the same. */
export function sayDeferred(searchable: readonly PooledTool[]): string {
  if (searchable.length === 0) return '';
  const names = searchable.map(({ name }) => name).join(', ');
  const told = names.length <= MOST_CHARACTERS ? names : countsOf(searchable);
  return [
    '# Tools you can search for',
    'Servers offer more tools than you were told of. ToolSearch finds them by what they do and loads them; one whose name you know can also be called at once.',
    told,
  ].join('\n');
}

function countsOf(tools: readonly PooledTool[]): string {
  const counts = new Map<string, number>();
  for (const { origin } of tools) {
    if (origin.kind === 'mcp') counts.set(origin.server, (counts.get(origin.server) ?? 0) + 1);
  }
  return `By server: ${[...counts].map(([server, count]) => `${server} (${count})`).join(', ')}.`;
}
