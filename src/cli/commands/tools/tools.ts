import { type Command, InvalidArgumentError, Option } from 'commander';
import { TOOL_SEARCH } from '../../../agent/builtins/tool-search.ts';
import type { HostTool } from '../../../host/host-options.ts';
import { assemble } from '../../../pool/assemble.ts';
import type { Pool } from '../../../pool/pool.ts';
import { parseQuery } from '../../../pool/search/search-query.ts';
import { ToolIndex } from '../../../pool/search/tool-index.ts';
import { type Actions, parseAction } from '../../flags/action-word.ts';
import {
  addServerChoice,
  addServerFlags,
  chosenNames,
  type ServerMap,
  usageError,
} from '../../flags/server-flags.ts';
import { type NamedServers, namedServers } from '../../host/named-servers.ts';
import { type Connected, changedTools, reportFailures, withHost } from '../../host/with-host.ts';
import { exitWith } from '../../output/failure.ts';
import { joinLines, jsonDocument } from '../../output/format.ts';
import { startChanges } from './changes.ts';
import { type Match, serverReports, type ToolsReport, totalsOf } from './report.ts';
import { costTable, matchTable, toolTable } from './tables.ts';

const HELP = `
Connects the servers, lists their tools with their annotations, and disconnects.

  toolplane tools                                                   all tools of the configured servers
  toolplane tools -s github --cost                                  the token cost of the definitions
  toolplane tools --search "send a mail"                            matching tools, best first
  toolplane tools --mcp-config servers.json                         only the servers of this file
  toolplane tools --stdio "npx -y some-server" --json               one server without a file, as JSON

A tool whose definition changed since it was first seen requires approval for every call until the change is accepted.
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
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('Expected an integer, 1 or more.');
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
