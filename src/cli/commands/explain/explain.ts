import { type Command, InvalidArgumentError, Option } from 'commander';
import { isRecord } from '../../../base/json-value.ts';
import { type Configuration, readConfiguration } from '../../../config/configuration.ts';
import { resolveTool } from '../../../config/explain/resolve-tool.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import { addJsonFlag, collect, formatOf, settingSources } from '../../flags/flag-values.ts';
import { withHost } from '../../host/with-host.ts';
import { freshConfiguration, inSession, readyEntries, type Session } from '../../mcp/session.ts';
import { ExitCode, UsageError } from '../../output/failure.ts';
import {
  type Asked,
  BUILT_IN_NAMES,
  type ExplainRequest,
  explainRequest,
  readCall,
  realCall,
  toolName,
} from './answer.ts';
import { liveTools, serversToAsk } from './live-tools.ts';

const HELP = `
  toolplane explain server                                 every server, in a line each
  toolplane explain server github                          where it comes from, who was shadowed, what is missing
  toolplane explain tool mcp__github__create_issue         whether models get it, what it costs, whether it may run
  toolplane explain tool github create_issue               the same
  toolplane explain permission Bash '{"command": "ls"}'    which rule decides about this call, and where it stands
  toolplane explain permission 'Bash(git push)'            the same for this command, written as in a rule
  toolplane explain timeout github                         every limit, and where it comes from

It reads what a run in this directory with the same flags would read. To tell how a server is, that one server is
dialled, unless --no-connect says otherwise; one that waits for approval is never started. No value of a variable or a
secret is printed. --json prints the same record for programs.

Exit codes:
  0    it is there and can be used
  1    it is there and cannot be used, or is denied
  2    nothing of that name is known, or the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

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

/** `toolplane explain`: why anything that is configured is as it is, and what to do next. */
export function defineExplain(command: Command): void {
  const explain = command.usage('server|tool|permission|timeout [name]').addHelpText('after', HELP);
  form(explain, 'server', 'Where a server comes from and how it is.')
    .argument('[name]', 'its name; without one, all of them')
    .option('--no-connect', 'do not dial it')
    .action((name: string | undefined, values: Values) => run('server', values, name));
  form(explain, 'tool', 'Whether models get a tool, and whether it may run.')
    .argument('<name>', 'the name models know, or a server')
    .argument('[tool]', 'the server’s own name of the tool')
    .option('--no-connect', 'do not dial its server')
    .action((name: string, tool: string | undefined, values: Values) =>
      run('tool', values, name, tool === undefined ? {} : { more: tool }),
    );
  form(explain, 'permission', 'Which rule decides about a call.')
    .argument('<tool>', 'the name models know, or a call as in a rule: Bash(git push), Read(notes.txt)')
    .argument('[arguments]', 'of the call: a JSON object', readInput)
    .addOption(new Option('--permission-mode <mode>', 'as if it ran so').choices(PERMISSION_MODES))
    .action((name: string, input: ExplainRequest['input'], values: Values) =>
      run('permission', values, name, input ? { input } : {}),
    );
  form(explain, 'timeout', 'How long a server and its tools may take.')
    .argument('<name>', 'a server, or the name models know a tool by')
    .argument('[tool]', 'the server’s own name of a tool')
    .action((name: string, tool: string | undefined, values: Values) =>
      run('timeout', values, name, tool === undefined ? {} : { more: tool }),
    );
}

function form(explain: Command, about: ExplainRequest['about'], does: string): Command {
  return addJsonFlag(explain.command(about))
    .description(does)
    .addOption(
      new Option('--mcp-config <file>', 'as if a run had this flag; may be repeated').argParser(collect),
    )
    .option('--strict-mcp-config', 'as if a run had this flag')
    .addOption(
      new Option('--setting-sources <scopes>', 'as if a run had this flag: user,project,local').argParser(
        settingSources,
      ),
    )
    .addOption(
      new Option('--plugin-dir <directory>', 'as if a run had this flag; may be repeated').argParser(collect),
    )
    .option('--settings <file>', 'as if a run had this flag');
}

async function run(
  about: ExplainRequest['about'],
  values: Values,
  name: string | undefined,
  more: Pick<ExplainRequest, 'more' | 'input'> = {},
): Promise<void> {
  const { mcpConfig, strictMcpConfig, settingSources: scopes, pluginDir, settings, permissionMode } = values;
  const request: ExplainRequest = {
    about,
    ...(name !== undefined && { name }),
    ...more,
    wanted: {
      ...(mcpConfig && { mcpConfigs: mcpConfig }),
      ...(strictMcpConfig && { isStrict: true }),
      ...(scopes && { scopes }),
      ...(pluginDir && { pluginDirs: pluginDir }),
      ...(settings !== undefined && { settings }),
    },
    connects: values.connect !== false,
    format: formatOf(values),
    ...(permissionMode && { mode: permissionMode }),
  };
  const code = await startExplain(request, process.env);
  if (code !== 0) throw new ExitCode(code);
}

function readInput(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // What it is instead may be secret: it is not shown.
  }
  throw new InvalidArgumentError('It takes a JSON object.');
}

/** `toolplane explain`; gives its exit code. */
export function startExplain(asks: ExplainRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(asks.format, env, async (session) => {
    const request = withWrittenCall(asks);
    const configuration = await configurationOf(session, request);
    const servers = readyEntries(serversToAsk(configuration, request));
    const call = await realCall(configuration, request);
    const answer = (asked: Asked) =>
      tell(session, explainRequest(configuration, request, { ...asked, call }));
    if (Object.keys(servers).length === 0) return answer({ statuses: {} });
    const needed = { servers, configuration, format: request.format };
    return withHost(needed, env, async ({ host, warnings }) => {
      const statuses = host.status();
      if (request.about !== 'tool') return answer({ statuses });
      const listed = await host.listTools();
      const tools = listed.filter(({ server }) => statuses[server]?.state === 'connected');
      return answer({
        statuses,
        live: liveTools(
          servers,
          { tools, warnings },
          resolveTool(configuration, toolName(request)).name,
          env,
        ),
      });
    });
  });
}

/** A permission may be asked for by a call that is written as in a rule; its arguments are given only once. */
function withWrittenCall(request: ExplainRequest): ExplainRequest {
  const { about, name, input } = request;
  if (about !== 'permission' || name === undefined) return request;
  const call = readCall(name, BUILT_IN_NAMES);
  if ('fault' in call) throw new UsageError(call.fault);
  if (call.input && input) {
    throw new UsageError(
      `the arguments are given twice, in ${JSON.stringify(name)} and as JSON: leave one out`,
    );
  }
  return { ...request, ...call, ...(call.input && { isWritten: true }) };
}

/** Who asks for a server asks also for what catalogues say of it now; who wants nobody dialled gets what is known. */
function configurationOf(
  session: Session,
  { about, connects, wanted }: ExplainRequest,
): Promise<Configuration> {
  return about === 'server' && connects
    ? freshConfiguration(session, wanted)
    : readConfiguration(session.context, wanted);
}

async function tell(
  session: Session,
  { document, pieces, code }: ReturnType<typeof explainRequest>,
): Promise<number> {
  await session.answer({ document, pieces });
  return code;
}
