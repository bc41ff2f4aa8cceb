import { type Command, InvalidArgumentError, Option } from 'commander';
import { definitionRows } from '../../../agent/skills/project-definitions.ts';
import { isRecord } from '../../../base/json-value.ts';
import { truncate, visibleText } from '../../../base/text/display-text.ts';
import { type Configuration, readConfiguration } from '../../../config/configuration.ts';
import { resolveTool } from '../../../config/explain/resolve-tool.ts';
import type { ConfigFlags } from '../../../config/sources/source-types.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import { addJsonFlag, collect, formatOf, settingSources } from '../../flags/flag-values.ts';
import { freshConfiguration, inSession, type Session, withObserved } from '../../mcp/session.ts';
import { exitWith, UsageError } from '../../output/failure.ts';
import { line } from '../../terminal/render.ts';
import {
  BUILT_IN_NAMES,
  type ExplainRequest,
  explainRequest,
  readCall,
  realCall,
  toolName,
} from './answer.ts';
import { startExplainMemory } from './explain-memory.ts';
import { liveTools, serversToAsk } from './live-tools.ts';

const HELP = `
  toolplane explain server                                 every server, one line each
  toolplane explain server github                          its sources, shadowed entries, missing values, status
  toolplane explain tool mcp__github__create_issue         whether it is offered, its token cost, whether it may run
  toolplane explain tool github create_issue               the same
  toolplane explain permission Bash '{"command": "ls"}'    which rule applies to this call, and where it is set
  toolplane explain permission 'Bash(git push)'            the same for this command, written as in a rule
  toolplane explain timeout github                         every limit, and where it comes from
  toolplane explain skills                                 skills, commands, agents and styles of files, and their errors
  toolplane explain memory                                 memory files, their token costs, which ones are ignored and why

Reads the same configuration as a run in this directory with the same flags. To show the status of a server, the
command connects to that server, unless --no-connect is given; a server that is pending approval is never started. Values
of variables and secrets are not printed. --json prints the same record as JSON.

Exit codes:
  0    the server or tool can be used, or the call is not denied
  1    the server or tool cannot be used, the call is denied, or a file of a skill has errors
  2    unknown name, or usage error
  130  interrupted (129, 143: hangup, termination)`;

type Values = {
  json?: true;
  connect: boolean;
  mcpConfig?: string[];
  strictMcpConfig?: true;
  settingSources?: string[];
  pluginDir?: string[];
  settings?: string;
  permissionMode?: PermissionMode;
};

/** `toolplane explain`: why a server, tool, permission or timeout is as it is, and what to do next. */
export function defineExplain(command: Command): void {
  const explain = command
    .usage('server|tool|permission|timeout|memory|skills [name]')
    .addHelpText('after', HELP);
  form(explain, 'server', 'Show where a server is configured, and its status.')
    .argument('[name]', 'the server; without a name, all servers')
    .option('--no-connect', 'do not connect to the server')
    .action((name: string | undefined, values: Values) => run('server', values, name));
  form(explain, 'tool', 'Show whether a tool is offered to models, and whether it may run.')
    .argument('<name>', 'the full name of the tool, or a server')
    .argument('[tool]', 'the tool’s own name')
    .option('--no-connect', 'do not connect to the server of the tool')
    .action((name: string, tool: string | undefined, values: Values) =>
      run('tool', values, name, tool === undefined ? {} : { more: tool }),
    );
  form(explain, 'permission', 'Show which permission rule or mode allows or denies a call.')
    .argument('<tool>', 'the full name of a tool, or a call as in a rule: Bash(git push), Read(notes.txt)')
    .argument('[arguments]', 'the arguments of the call: a JSON object', readInput)
    .addOption(
      new Option('--permission-mode <mode>', 'explain as if the session had this mode').choices(
        PERMISSION_MODES,
      ),
    )
    .action((name: string, input: ExplainRequest['input'], values: Values) =>
      run('permission', values, name, input ? { input } : {}),
    );
  form(explain, 'timeout', 'Show the timeouts of a server and its tools.')
    .argument('<name>', 'a server, or the full name of a tool')
    .argument('[tool]', 'the tool’s own name')
    .action((name: string, tool: string | undefined, values: Values) =>
      run('timeout', values, name, tool === undefined ? {} : { more: tool }),
    );
  form(
    explain,
    'skills',
    'Show the skills, slash commands, agents and output styles that files define.',
  ).action(async (values: Values) =>
    exitWith(await explainSkills(wantedOf(values), formatOf(values), process.env)),
  );
  form(explain, 'memory', 'Show the memory files of a session, and why files are ignored.').action(
    async (values: Values) =>
      exitWith(await startExplainMemory(wantedOf(values), formatOf(values), process.env)),
  );
}

function form(explain: Command, about: ExplainRequest['about'] | 'memory' | 'skills', does: string): Command {
  return addJsonFlag(explain.command(about))
    .description(does)
    .addOption(
      new Option('--mcp-config <file>', 'explain as if a run had this flag; may be repeated').argParser(
        collect,
      ),
    )
    .option('--strict-mcp-config', 'explain as if a run had this flag')
    .addOption(
      new Option(
        '--setting-sources <scopes>',
        'explain as if a run had this flag: user,project,local',
      ).argParser(settingSources),
    )
    .addOption(
      new Option('--plugin-dir <directory>', 'explain as if a run had this flag; may be repeated').argParser(
        collect,
      ),
    )
    .option('--settings <file>', 'explain as if a run had this flag');
}

async function run(
  about: ExplainRequest['about'],
  values: Values,
  name: string | undefined,
  more: Pick<ExplainRequest, 'more' | 'input'> = {},
): Promise<void> {
  const { permissionMode } = values;
  const request: ExplainRequest = {
    about,
    ...(name !== undefined && { name }),
    ...more,
    wanted: wantedOf(values),
    connects: values.connect !== false,
    format: formatOf(values),
    ...(permissionMode && { mode: permissionMode }),
  };
  exitWith(await startExplain(request, process.env));
}

/** The flags of the run that is explained. */
function wantedOf(values: Values): ConfigFlags {
  const { mcpConfig, strictMcpConfig, settingSources: scopes, pluginDir, settings } = values;
  return {
    ...(mcpConfig && { mcpConfigs: mcpConfig }),
    ...(strictMcpConfig && { isStrict: true }),
    ...(scopes && { scopes }),
    ...(pluginDir && { pluginDirs: pluginDir }),
    ...(settings !== undefined && { settings }),
  };
}

/** Lists what files define, and what is wrong with them. */
export function explainSkills(
  wanted: ExplainRequest['wanted'],
  format: ExplainRequest['format'],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const { rows, problems } = definitionRows(await readConfiguration(session.context, wanted));
    const lines = rows.map(({ kind, name, scope, file, description, isShadowed, approval }) =>
      line(
        `${kind.padEnd(7)} `,
        [visibleText(name), 'strong'],
        ` (${scope}, ${file})`,
        ...(isShadowed ? [' shadowed'] : []),
        ...(approval === undefined ? [] : [` ${approval}`]),
        visibleText(description === '' ? '' : `: ${truncate(description, 200)}`),
      ),
    );
    const none = rows.length === 0 ? [line('no skills, slash commands, agents or output styles')] : [];
    await session.answer({
      document: { definitions: [...rows], problems: [...problems] },
      pieces: [...lines, ...none, ...problems.map((it) => line(['! ', 'warn'], visibleText(it)))],
    });
    return problems.length > 0 ? 1 : 0;
  });
}

function readInput(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The text may be a secret, so it is not quoted.
  }
  throw new InvalidArgumentError('Expected a JSON object.');
}

/** Runs `toolplane explain`; returns its exit code. */
export function startExplain(asks: ExplainRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(asks.format, env, async (session) => {
    const request = withWrittenCall(asks);
    const configuration = await configurationOf(session, request);
    const call = await realCall(configuration, request);
    const servers = serversToAsk(configuration, request);
    return withObserved(session, configuration, servers, async (observe, connected) => {
      const live =
        connected && request.about === 'tool'
          ? await liveTools(connected, resolveTool(configuration, toolName(request)).name, env)
          : undefined;
      const explained = explainRequest(configuration, request, { observe, call, ...(live && { live }) });
      await session.answer(explained);
      return explained.code;
    });
  });
}

/** Parses a call written as in a rule; its arguments must not be given again as JSON. */
function withWrittenCall(request: ExplainRequest): ExplainRequest {
  const { about, name, input } = request;
  if (about !== 'permission' || name === undefined) return request;
  const call = readCall(name, BUILT_IN_NAMES);
  if ('fault' in call) throw new UsageError(call.fault);
  if (call.input && input) {
    throw new UsageError(`the arguments are given twice, in ${JSON.stringify(name)} and as JSON; remove one`);
  }
  return { ...request, ...call, ...(call.input && { isWritten: true }) };
}

/** Fetches connector catalogs for an explanation of a server, unless `--no-connect` is given. */
function configurationOf(
  session: Session,
  { about, connects, wanted }: ExplainRequest,
): Promise<Configuration> {
  return about === 'server' && connects
    ? freshConfiguration(session, wanted)
    : readConfiguration(session.context, wanted);
}
