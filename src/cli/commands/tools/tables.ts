import { firstLine, formatCount, formatPercent, pluralize } from '../../output/format.ts';
import { table } from '../../terminal/table.ts';
import type { Match, ServerReport, ToolReport, ToolsReport } from './report.ts';

/** The tools of each connected server below its name. */
export function toolTable({ servers }: Pick<ToolsReport, 'servers'>, columns: number | undefined): string[] {
  const groups = servers.flatMap((server) => {
    if (server.status !== 'connected') return [];
    const rows = server.tools.map((tool) => [tool.name, marksOf(tool), firstLine(tool.description)]);
    return [[...table([[headOf(server)]], { columns }), ...table(rows, { columns, indent: 2 })]];
  });
  return groups.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

/** Search results, best first. */
export function matchTable({ servers, matches = [] }: ToolsReport, columns: number | undefined): string[] {
  const rows = matches.map((match) => {
    const tool = toolOf(servers, match);
    return [match.server, match.name, tool ? marksOf(tool) : '', firstLine(tool?.description)];
  });
  return table(rows, { columns });
}

/** The annotations that matter before a call. */
export function marksOf({ annotations }: Pick<ToolReport, 'annotations'>): string {
  const marks = [
    annotations?.readOnlyHint === true ? 'readOnly' : '',
    annotations?.destructiveHint === true ? 'destructive' : '',
  ];
  return marks.filter((mark) => mark !== '').join(' ');
}

function headOf({ name, tools, serverInfo }: ServerReport): string {
  const version = serverInfo ? `, ${serverInfo.name} ${serverInfo.version}` : '';
  return `${name} (${pluralize(tools.length, 'tool')}${version})`;
}

function toolOf(servers: readonly ServerReport[], { server, name }: Match): ToolReport | undefined {
  return servers.find((it) => it.name === server)?.tools.find((it) => it.name === name);
}

/** Token cost per request: servers and their tools, highest first, then the total. */
export function costTable({ servers, totals }: ToolsReport, columns: number | undefined): string[] {
  const { tokens, tools, window, withToolSearch } = totals;
  const rows = [
    ['', 'tools', 'tokens', 'share'],
    ...byCost(servers.filter(({ status }) => status === 'connected')).flatMap((server) => [
      [
        server.name,
        formatCount(server.tools.length),
        formatCount(server.tokens),
        formatPercent(server.tokens, window),
      ],
      ...byCost(server.tools).map((tool) => [`  ${tool.name}`, '', formatCount(tool.tokens), '']),
    ]),
    ['all', formatCount(tools), formatCount(tokens), formatPercent(tokens, window)],
    ['with tool search', '', formatCount(withToolSearch), formatPercent(withToolSearch, window)],
  ];
  const lines = table(rows, { columns, right: [1, 2, 3] });
  return [...lines, '', ...formatCost(totals)];
}

/** What the numbers mean. */
function formatCost({ tokens, window, searchAbove, withToolSearch }: ToolsReport['totals']): string[] {
  const share = `Shares refer to a context window of ${formatCount(window)} tokens.`;
  const limit = `${formatCount(searchAbove)} tokens (${formatPercent(searchAbove, window)})`;
  if (tokens > searchAbove) {
    const saved = formatPercent(tokens - withToolSearch, tokens);
    return [share, `Above ${limit}, tool search is used, which saves ${saved}.`];
  }
  return [share, `Up to ${limit} all tools are sent to the model; above that, tool search is used.`];
}

/** Sorted by cost, then by name. */
function byCost<T extends Pick<ServerReport, 'name' | 'tokens'>>(priced: readonly T[]): T[] {
  return [...priced].sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
}
