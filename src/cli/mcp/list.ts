import type { Command } from 'commander';
import type { Configuration } from '../../config/configuration.ts';
import { ignoredEntries, isFailing, listedRecords, shortStatus } from '../../config/explain/server-record.ts';
import { formatDiagnostic } from '../../config/files/diagnostics.ts';
import { managedSource } from '../../config/merge/eligibility.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../flags/flag-values.ts';
import { ExitCode } from '../output/failure.ts';
import { line, type Piece } from '../terminal/render.ts';
import { table } from '../terminal/table.ts';
import { STATE_MARKS, statusDocument, whereDocument } from './entries.ts';
import { freshConfiguration, inSession, type Session, withObserved } from './session.ts';

const HELP = `
Lists every configured server with its scope, its file and its status:

  ✓  connected, with the number of tools
  ✗  failed, not usable because of its entry, or blocked by policy, with the reason
  ⏸  pending approval, rejected or disabled, with the command to run

Servers that are ready are started in parallel, their tools are listed, and they are stopped again. A server that is
pending approval is never started. Problems in files are reported on stderr, one line each.

  toolplane mcp list
  toolplane mcp list --no-connect          show only the configuration
  toolplane mcp list --json | jq '.servers[] | select(.state == "failed")'

Exit codes:
  0    no server failed; servers that are pending approval do not count as failures
  1    a server failed, its entry cannot be used, or policy blocks it; or a file cannot be read
  2    usage error
  130  interrupted (129, 143: hangup, termination)`;

type Values = { json?: true; connect: boolean };

/** `toolplane mcp list`, and its alias `ls`. */
export function defineList(command: Command): void {
  addJsonFlag(command)
    .option('--no-connect', 'do not connect to servers; show only the configuration')
    .addHelpText('after', HELP)
    .action(async (values: Values) => {
      const code = await startList({ connects: values.connect }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

function startList(
  { connects }: { readonly connects: boolean },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session, {}, connects ? 'ask' : 'remember');
    const servers = connects ? configuration.merged.servers : [];
    return withObserved(session, configuration, servers, (observe) =>
      show(session, configuration, listedRecords(configuration, observe)),
    );
  });
}

type ListedRecord = ReturnType<typeof listedRecords>[number];

async function show(
  session: Session,
  configuration: Configuration,
  records: readonly ListedRecord[],
): Promise<number> {
  const { faults, settings } = configuration;
  const notes = [...configuration.unused.map(({ text }) => text), ...excluded(configuration)];
  await session.answer({
    document: {
      servers: records.map((it) => ({
        name: it.name,
        ...whereDocument(it.server.written),
        ...statusDocument(it),
      })),
      faults: faults.map((fault) => ({ level: fault.level, text: formatDiagnostic(fault) })),
      notes,
      pendingSettings: settings.pending,
    },
    pieces: listPieces(records, emptyText(configuration)),
  });
  const isListed = (text: string) => records.some(({ reason }) => reason.includes(text));
  const lines = faults.map(formatDiagnostic).filter((text) => !isListed(text));
  for (const line of [...lines, ...notes]) session.report(line);
  for (const { label, choice } of settings.pending) {
    const what = choice === 'changed' ? 'changed since you approved it' : 'is not approved';
    session.report(`${label} ${what}: only its restrictions are active; run: toolplane mcp approve`);
  }
  const isBroken = faults.some(({ level }) => level === 'error');
  return isBroken || records.some(isFailing) ? 1 : 0;
}

/** The number of servers that the managed file excludes. */
function excluded(configuration: Configuration): string[] {
  const count = ignoredEntries(configuration).filter(({ why }) => why === 'managed').length;
  if (count === 0) return [];
  const what = count === 1 ? '1 server of another scope is' : `${count} servers of other scopes are`;
  return [`${what} ignored: the managed file of this machine allows only its own servers`];
}

/** The message for an empty list. */
export function emptyText({ sources }: Pick<Configuration, 'sources'>): string {
  const managed = managedSource(sources);
  if (!managed) {
    return 'No servers are configured. Add one: toolplane mcp add <name> -- <command>, or <name> <url>';
  }
  const why = managed.state === 'unusable' ? 'cannot be read' : 'contains no servers';
  return `No servers are active: only servers in ${managed.label} are allowed, but that file ${why}. Ask your administrator.`;
}

/** One server per line. Nothing is truncated, since the end of a line says what to do. */
export function listPieces(records: readonly ListedRecord[], empty: string): Piece[] {
  if (records.length === 0) return [line(empty)];
  const cells = records.map((it) => [
    it.name,
    it.server.written.scope,
    it.server.written.label,
    shortStatus(it),
  ]);
  return table(cells, { columns: undefined }).map((text, at) =>
    line(STATE_MARKS[(records[at] as ListedRecord).state], ` ${text}`),
  );
}
