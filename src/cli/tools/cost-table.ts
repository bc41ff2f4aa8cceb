import { counted, percent } from '../host/figures.ts';
import { table } from '../host/table.ts';
import type { ServerReport, ToolsReport } from './report.ts';

/** What definitions cost in every request: servers and their tools, the dearest first, then all of them. */
export function costTable({ servers, totals }: ToolsReport, columns: number | undefined): string[] {
  const { tokens, tools, window, withToolSearch } = totals;
  const rows = [
    ['', 'tools', 'tokens', 'share'],
    ...dearest(servers.filter(({ status }) => status === 'connected')).flatMap((server) => [
      [server.name, counted(server.tools.length), counted(server.tokens), percent(server.tokens, window)],
      ...dearest(server.tools).map((tool) => [`  ${tool.name}`, '', counted(tool.tokens), '']),
    ]),
    ['all', counted(tools), counted(tokens), percent(tokens, window)],
    ['with tool search', '', counted(withToolSearch), percent(withToolSearch, window)],
  ];
  const lines = table(rows, { columns, right: [1, 2, 3] });
  return [...lines, '', ...sayCost(totals)];
}

/** What the figures mean. */
export function sayCost({ tokens, window, searchAbove, withToolSearch }: ToolsReport['totals']): string[] {
  const share = `Shares are of a window of ${counted(window)} tokens.`;
  const limit = `${counted(searchAbove)} tokens (${percent(searchAbove, window)})`;
  if (tokens > searchAbove) {
    const saved = percent(tokens - withToolSearch, tokens);
    return [share, `Above ${limit} a model searches for tools, which spares ${saved} of that.`];
  }
  return [share, `Up to ${limit} a model is told of all tools; above it searches.`];
}

/** Same costs by name, so that the same tools give the same lines. */
function dearest<T extends Pick<ServerReport, 'name' | 'tokens'>>(priced: readonly T[]): T[] {
  return [...priced].sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
}
