import type { Command } from 'commander';
import type { Configuration } from '../../../config/configuration.ts';
import type { ConfiguredServer } from '../../../config/model.ts';
import { assemble } from '../../../pool/assemble.ts';
import { tokenCost } from '../../../pool/token-cost.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../../flags/flag-values.ts';
import { type Connected, changedTools, withHost } from '../../host/with-host.ts';
import { ExitCode } from '../../output/failure.ts';
import { processOutput } from '../../output/output.ts';
import { Spinner } from '../../terminal/spinner.ts';
import { unknownServer } from '../entries.ts';
import { freshConfiguration, inSession, readyEntries } from '../session.ts';

import { checkFiles } from './check-files.ts';
import { checkLive, type Live } from './check-live.ts';
import { checkBefore } from './check-server.ts';
import { type Checked, checked, type Finding, report, reportText, type ServerFigures } from './report.ts';

const HELP = `
  toolplane mcp doctor                 every file and every server
  toolplane mcp doctor github files    every file and these servers

Files: whether each can be read, and whether secrets stand in it that others can see. Servers: whether the command is on
PATH, the address answers, its certificate is good, it takes our credentials, shakes hands and lists sound tools; what
their definitions cost, and which changed since they were accepted. Servers that wait for approval are never started.
Below what is not well stands what to do, unless the line says so itself.

Exit codes:
  0    nothing is broken; there may be warnings
  1    something is broken
  2    unknown server, or usage error
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane mcp doctor`: looks at everything that is configured, and tells the fix of what is not well. */
export function defineDoctor(command: Command): void {
  addJsonFlag(command)
    .argument('[names...]', 'only these servers')
    .addHelpText('after', HELP)
    .action(async (names: string[], values: { json?: true }) => {
      const code = await startDoctor({ names: [...new Set(names)], format: formatOf(values) }, process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

export type DoctorRequest = { readonly names: readonly string[]; readonly format: McpFormat };

/** `toolplane mcp doctor`; gives its exit code. */
export function startDoctor({ names, format }: DoctorRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(format, env, async (session) => {
    const { answer } = session;
    const configuration = await freshConfiguration(session);
    const { merged } = configuration;
    const missing = names.find((name) => !merged.servers.some((it) => it.name === name));
    if (missing !== undefined) throw unknownServer(configuration, missing);
    const chosen = merged.servers.filter(({ name }) => names.length === 0 || names.includes(name));
    const files = checkFiles(configuration, chosen);
    const before = await lookedAt(configuration, chosen, env);
    const finish = async (live: ReadonlyMap<string, Live>) => {
      const servers = chosen.map((it) =>
        serverOf(configuration, it, before.get(it.name) ?? [], live.get(it.name)),
      );
      const result = report(await files, servers);
      await answer({ document: result, pieces: reportText(result) });
      return result.broken > 0 ? 1 : 0;
    };
    const sound = chosen.filter(({ name }) => before.get(name)?.every(({ level }) => level !== 'error'));
    const entries = readyEntries(sound);
    if (Object.keys(entries).length === 0) return finish(new Map());
    const started = Date.now();
    return withHost({ servers: entries, configuration, format }, env, async (connected) =>
      finish(await liveOf(connected, entries, env, started)),
    );
  });
}

/** What is known before anybody is dialled; a name that cannot be looked up may take seconds. */
async function lookedAt(
  configuration: Configuration,
  servers: readonly ConfiguredServer[],
  env: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<string, readonly Finding[]>> {
  using spinner = new Spinner(processOutput(env, () => {}).spinnerTerminal);
  const found = new Map<string, readonly Finding[]>();
  spinner.show(() => `looking at ${found.size} of ${servers.length}`);
  await Promise.all(servers.map(async (it) => void found.set(it.name, await checkBefore(configuration, it))));
  return found;
}

function serverOf(
  configuration: Configuration,
  server: ConfiguredServer,
  before: readonly Finding[],
  live: Live | undefined,
): Checked & ServerFigures {
  const { name } = server;
  if (!live) return checked(name, before);
  const found = checked(name, [...before, ...checkLive(configuration, server, live)]);
  const { tools } = live.status;
  if (live.status.state !== 'connected') return found;
  return { ...found, ms: live.ms, ...(tools !== undefined && { tools }), tokens: live.tokens };
}

async function liveOf(
  { host, warnings }: Connected,
  entries: ReturnType<typeof readyEntries>,
  env: NodeJS.ProcessEnv,
  started: number,
): Promise<ReadonlyMap<string, Live>> {
  const statuses = host.status();
  const listed = await host.listTools();
  const tools = listed.filter(({ server }) => statuses[server]?.state === 'connected');
  const changes = changedTools(entries, tools, env, () => {});
  const pool = assemble({
    builtIns: [],
    servers: Map.groupBy(tools, ({ server }) => server),
    maxNameLength: 128,
  });
  return new Map(
    Object.entries(statuses).map(([name, status]) => [
      name,
      {
        status,
        warnings: warnings.filter(({ server }) => server === name),
        changes: changes.filter(({ server }) => server === name),
        tokens: [...(pool.byServer.get(name)?.values() ?? [])].reduce((sum, it) => sum + tokenCost(it), 0),
        ms: Math.max(0, status.since - started),
      },
    ]),
  );
}
