import { type Command, InvalidArgumentError, Option } from 'commander';
import { TOOL_SEARCH } from '../../../agent/builtins/tool-search.ts';
import { formatCount, pluralize } from '../../../base/text/display-text.ts';
import type { HostTool } from '../../../host/host-options.ts';
import { assemble } from '../../../pool/assemble.ts';
import type { Pool } from '../../../pool/pool.ts';
import { parseQuery } from '../../../pool/search/search-query.ts';
import { ToolIndex } from '../../../pool/search/tool-index.ts';
import { type Actions, parseAction, usageError } from '../../flags/flag-values.ts';
import { addServerChoice, addServerFlags, chosenNames, type ServerMap } from '../../flags/server-flags.ts';
import { type NamedServers, namedServers } from '../../host/named-servers.ts';
import { type Connected, changedTools, reportFailures, withHost } from '../../host/with-host.ts';
import { exitWith } from '../../output/failure.ts';
import { firstLine, formatPercent, joinLines, jsonDocument } from '../../output/format.ts';
import { table } from '../../terminal/table.ts';
import { startChanges } from './changes.ts';
import {
  type Match,
  type ServerReport,
  serverReports,
  type ToolReport,
  type ToolsReport,
  totalsOf,
} from './report.ts';

const HELP = `
Connects the servers, lists their tools with their annotations, and disconnects.

  toolplane tools                                                   all tools of the configured servers
  toolplane tools -s github --cost                                  the token cost of the definitions
  toolplane tools --search "send a mail"                            matching tools, best first
  toolplane tools --mcp-config servers.json                         only the servers of this file
  toolplane tools --stdio "npx -y some-server" --json               one server without a file, as JSON

A tool whose definition changed since it was accepted requires approval for every call until the change is accepted.
Listing tools accepts nothing, but records changes, which can then be accepted:

  toolplane tools --changed                                         what changed, and how
  toolplane tools accept github create_issue                        accept this tool
  toolplane tools accept github                                     accept all tools of this server

--search supports the operators of tool search: server:github, +word, readonly:true, destructive:false and
select:<name>,<name>.

Exit codes:
  0    every server is connected
  1    a server could not be connected; the others are listed, the reason is on stderr
  2    usage error, or no tool of that name is pending acceptance
  130  interrupted (129, 143: hangup, termination)`;

const ACTIONS: Actions<'list' | 'accept'> = {
  list: [0, 0, ''],
  accept: [1, 2, '<server> [tool]'],
};

type Values = { json?: true; cost?: true; changed?: true; search?: string; limit: number };

/** `toolplane tools`: lists, searches and prices tools, and accepts changed definitions. */
export function defineTools(command: Command): void {
  addServerChoice(addServerFlags(command))
    .usage('[options] [accept <server> [tool]]')
    .argument('[words...]', 'accept <server> [tool]')
    .addOption(
      new Option('--cost', 'token cost of every definition, highest first').conflicts(['search', 'changed']),
    )
    .addOption(
      new Option('--search <text>', 'tools that match a task, best first')
        .argParser(words)
        .conflicts('changed'),
    )
    .addOption(
      new Option('--limit <n>', 'maximum number of results of --search').argParser(count).default(10),
    )
    .option('--changed', 'definitions that changed since they were accepted; does not connect')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action(async (args: string[], values: Values, command: Command) => {
      const action = parseAction(command, args, ACTIONS);
      refuseIdle(command, action, values);
      const isOffline = action === 'accept' || values.changed;
      exitWith(await (isOffline ? changes(args, values, command) : list(values, command)));
    });
}

/** Refuses flags that would have no effect. */
function refuseIdle(command: Command, action: 'list' | 'accept', { search }: Values): void {
  if (search === undefined && command.getOptionValueSource('limit') === 'cli') {
    usageError(command, '--limit requires --search');
  }
  const idle = (['cost', 'search', 'changed', 'server'] as const).filter(
    (name) => command.getOptionValueSource(name) === 'cli',
  );
  if (action === 'accept' && idle.length > 0) {
    usageError(command, `tools accept cannot be combined with --${idle.join(' or --')}`);
  }
}

async function list({ json, cost, search, limit }: Values, command: Command): Promise<number> {
  const named = await namedServers(command, chosenNames(command));
  const format = json ? 'json' : cost ? 'cost' : 'list';
  return startTools({ ...named, format, limit, ...(search !== undefined && { search }) }, process.env);
}

async function changes(
  [, server, tool]: readonly string[],
  { json }: Values,
  command: Command,
): Promise<number> {
  const format = json ? 'json' : 'text';
  const servers = chosenNames(command);
  if (server === undefined) {
    return startChanges({ format, action: 'changed', ...(servers && { servers }) }, process.env);
  }
  const named = { server, ...(tool !== undefined && { tool }) };
  return startChanges({ format, action: 'accept', ...named }, process.env);
}

function count(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('Expected an integer from 1 to 9999.');
  return Number(value);
}

function words(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('Expected a description of the task.');
  return value;
}

export type ToolsRequest = NamedServers & {
  readonly format: 'list' | 'cost' | 'json';
  readonly search?: string;
  /** Maximum number of search results. */
  readonly limit: number;
};

/** Maximum length of a tool name for most models; the strictest accept 64. */
const MAX_NAME = 128;

/** Runs `toolplane tools`; returns its exit code. */
export function startTools(request: ToolsRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request, env, async (connected) => {
    const report = await reportOf(connected, request, env);
    await connected.output.print(printed(report, request, connected.output.columns));
    if (request.format !== 'json') {
      for (const { name, warnings } of report.servers) {
        for (const warning of warnings) connected.output.report(`server ${name}: ${warning}`);
      }
      if (report.matches?.length === 0)
        connected.output.report('no matching tool found; try other search terms');
    }
    return reportFailures(connected);
  });
}

async function reportOf(
  { host, warnings, output, notStarted }: Connected,
  request: ToolsRequest,
  env: NodeJS.ProcessEnv,
): Promise<ToolsReport> {
  const statuses = host.status();
  const listed = await host.listTools();
  const tools = listed.filter(({ server }) => statuses[server]?.state === 'connected');
  const pool = poolOf(request.servers, tools);
  const changes = changedTools(request.servers, tools, env, output.report);
  const servers = serverReports({ statuses, tools, warnings, pool, changes });
  const matches =
    request.search === undefined ? undefined : await search(request.search, request.limit, pool);
  return {
    servers,
    notStarted: notStarted.map(({ server: name, state, why }) => ({ name, state, why })),
    totals: totalsOf(servers, pool),
    ...(matches && { matches }),
  };
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

/** Finds the same tools as a model's search. */
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
  if (format === 'json') return jsonDocument(report);
  if (text !== undefined) return joinLines(matchTable(report, columns));
  return joinLines(format === 'cost' ? costTable(report, columns) : toolTable(report, columns));
}

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
