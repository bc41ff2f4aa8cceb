import type { Command } from 'commander';
import { serverRecord } from '../../../config/explain/server-record.ts';
import { assemble } from '../../../pool/assemble.ts';
import { tokenCost } from '../../../pool/token-cost.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../../flags/flag-values.ts';
import { changedTools } from '../../host/with-host.ts';
import { ExitCode } from '../../output/failure.ts';
import { unknownServer } from '../entries.ts';
import {
  type ConnectedServers,
  connectedTools,
  freshConfiguration,
  inSession,
  withObserved,
} from '../session.ts';
import { checkFiles } from './check-files.ts';
import { checked, report, reportText, type ServerFigures } from './report.ts';
import { type LiveFindings, serverFindings } from './server-findings.ts';

const HELP = `
  toolplane mcp doctor                 check every file and every server
  toolplane mcp doctor github files    check every file and these servers

Files: whether each can be read, and whether it contains secrets that others can see. Servers: whether the command can be
executed, the address can be reached, the certificate can be verified, the credentials are accepted, the handshake
succeeds and the tools are listed correctly; the token cost of the tool definitions, and which changed since they were
accepted. Servers that are pending approval are never started. Each problem is shown with a fix.

Exit codes:
  0    nothing is broken; there may be warnings
  1    a file or server is broken
  2    unknown server, or usage error
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane mcp doctor`: checks everything that is configured and suggests fixes. */
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

/** Runs `toolplane mcp doctor`; returns its exit code. */
export function startDoctor({ names, format }: DoctorRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session);
    const { servers } = configuration.merged;
    const missing = names.find((name) => !servers.some((it) => it.name === name));
    if (missing !== undefined) throw unknownServer(configuration, missing);
    const chosen = servers.filter(({ name }) => names.length === 0 || names.includes(name));
    const started = Date.now();
    return withObserved(session, configuration, chosen, async (observe, connected) => {
      const live = connected ? await liveFindings(connected, env) : undefined;
      const records = chosen.map(({ name }) => serverRecord(configuration, name, observe(name)));
      const rows = records.map((record) => {
        const found = live?.(record.name);
        const row = checked(record.name, serverFindings(record, found));
        if (!found || record.connection === 'not asked' || record.state !== 'connected') return row;
        const { tools } = record.connection;
        const since = observe(record.name).status?.since ?? started;
        const figures: ServerFigures = {
          ms: Math.max(0, since - started),
          ...(tools !== undefined && { tools }),
          tokens: found.tokens,
        };
        return { ...row, ...figures };
      });
      const result = report(await checkFiles(configuration, records), rows);
      await session.answer({ document: result, pieces: reportText(result) });
      return result.broken > 0 ? 1 : 0;
    });
  });
}

/** Warnings, changed tools and token cost of each connected server. */
async function liveFindings(
  { host, warnings, entries }: ConnectedServers,
  env: NodeJS.ProcessEnv,
): Promise<(name: string) => LiveFindings> {
  const tools = await connectedTools(host);
  const changes = changedTools(entries, tools, env, () => {});
  const pool = assemble({
    builtIns: [],
    servers: Map.groupBy(tools, ({ server }) => server),
    maxNameLength: 128,
  });
  return (name) => ({
    warnings: warnings.filter(({ server }) => server === name),
    changes: changes.filter(({ server }) => server === name),
    tokens: [...(pool.byServer.get(name)?.values() ?? [])].reduce((sum, it) => sum + tokenCost(it), 0),
  });
}
