import { many } from '../host/figures.ts';
import { table } from '../host/table.ts';
import type { Match, ServerReport, ToolReport, ToolsReport } from './report.ts';

/** The tools of each server below its name; a server that failed is told of elsewhere. */
export function toolTable({ servers }: Pick<ToolsReport, 'servers'>, columns: number | undefined): string[] {
  const groups = servers.flatMap((server) => {
    if (server.status !== 'connected') return [];
    const rows = server.tools.map((tool) => [tool.name, marksOf(tool), firstLine(tool.description)]);
    return [[...table([[headOf(server)]], { columns }), ...table(rows, { columns, indent: 2 })]];
  });
  return groups.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

/** What a search found, best first. */
export function matchTable({ servers, matches = [] }: ToolsReport, columns: number | undefined): string[] {
  const rows = matches.map((match) => {
    const tool = toolOf(servers, match);
    return [match.server, match.name, tool ? marksOf(tool) : '', firstLine(tool?.description)];
  });
  return table(rows, { columns });
}

/** What a server claims of a tool, as far as it matters before a call. */
export function marksOf({ annotations }: Pick<ToolReport, 'annotations'>): string {
  const marks = [
    annotations?.readOnlyHint === true ? 'readOnly' : '',
    annotations?.destructiveHint === true ? 'destructive' : '',
  ];
  return marks.filter((mark) => mark !== '').join(' ');
}

/** The first line that says something. */
export function firstLine(description = ''): string {
  return description.trim().split('\n', 1)[0]?.trim() ?? '';
}

function headOf({ name, tools, serverInfo }: ServerReport): string {
  const version = serverInfo ? `, ${serverInfo.name} ${serverInfo.version}` : '';
  return `${name} (${many(tools.length, 'tool')}${version})`;
}

function toolOf(servers: readonly ServerReport[], { server, name }: Match): ToolReport | undefined {
  return servers.find((it) => it.name === server)?.tools.find((it) => it.name === name);
}
