import type { Command } from 'commander';
import type { Configuration } from '../../config/configuration.ts';
import { faultText } from '../../config/files/diagnostics.ts';
import { rulingSource } from '../../config/merge/eligibility.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../flags/flag-values.ts';
import { ExitCode } from '../output/failure.ts';
import { line, type Piece } from '../terminal/render.ts';
import { table } from '../terminal/table.ts';
import { whereDocument } from './entries.ts';
import { allLost, isTrouble, MARKS, type Row, rowsOf, unmetOf } from './health.ts';
import { freshConfiguration, inSession, type Session, type Statuses, withStatuses } from './session.ts';

const HELP = `
Every server that is configured, its scope, where it stands, and how it is:

  ✓  connected, with how many tools it has
  ✗  it failed, is broken, or the policy of the machine blocks it; the reason stands beside it
  ⏸  it waits for approval, is rejected, or is disabled; what to run stands beside it

Those that are ready are started, asked for their tools, and ended again, all at once. One that waits for approval is
never started. What is wrong with files is told on stderr, one line each.

  toolplane mcp list
  toolplane mcp list --no-connect          start nothing
  toolplane mcp list --json | jq '.servers[] | select(.state == "failed")'

Exit codes:
  0    all is well; what waits for a person is
  1    a server failed, is broken or blocked, or a file cannot be used
  2    the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

type Values = { json?: true; connect: boolean };

/** `toolplane mcp list`, and its alias `ls`. */
export function defineList(command: Command): void {
  addJsonFlag(command)
    .option('--no-connect', 'start nothing: tell only what is configured')
    .addHelpText('after', HELP)
    .action(async (values: Values) => {
      const code = await startList({ connects: values.connect }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

/** `toolplane mcp list`; gives its exit code. */
export function startList(
  { connects }: { readonly connects: boolean },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session, {}, connects ? 'ask' : 'remember');
    const dialled = connects ? configuration.merged.servers : [];
    return withStatuses(session, configuration, dialled, (statuses) =>
      show(session, configuration, statuses),
    );
  });
}

async function show(session: Session, configuration: Configuration, statuses: Statuses): Promise<number> {
  const rows = rowsOf(configuration, statuses, unmetOf(configuration));
  const { faults, settings } = configuration;
  const notes = [...configuration.unused, ...excluded(configuration)];
  await session.answer({
    document: {
      servers: rows.map(({ name, written, health }) => ({ name, ...whereDocument(written), ...health })),
      faults: faults.map((fault) => ({ level: fault.level, text: faultText(fault) })),
      notes,
      pendingSettings: settings.pending,
    },
    pieces: listPieces(rows, emptyText(configuration)),
  });
  // What a row says already is not said twice.
  const told = rows.map(({ health }) => health.text);
  const lines = faults.map(faultText).filter((text) => !told.some((it) => it.includes(text)));
  for (const line of [...lines, ...notes]) session.tell(line);
  for (const { label, choice } of settings.pending) {
    const what = choice === 'changed' ? 'changed since you approved it' : 'is not approved';
    session.tell(`${label} ${what}: of it only what forbids counts; toolplane mcp approve`);
  }
  const isBroken = faults.some(({ level }) => level === 'error');
  return isBroken || rows.some(({ health }) => isTrouble(health)) ? 1 : 0;
}

/** Who has servers that a managed file excludes would look for them in vain. */
function excluded(configuration: Configuration): string[] {
  const count = allLost(configuration).filter(({ why }) => why === 'managed').length;
  if (count === 0) return [];
  const what = count === 1 ? '1 server of another scope does' : `${count} servers of other scopes do`;
  return [`${what} not count: on this machine only those of the managed file do`];
}

/** What is said where no server is listed: that there is none, or who sees to it that none counts. */
export function emptyText({ sources }: Pick<Configuration, 'sources'>): string {
  const ruling = rulingSource(sources);
  if (!ruling) {
    return 'No servers are configured. Add one: toolplane mcp add <name> -- <command>, or <name> <url>';
  }
  const says = ruling.state === 'unusable' ? 'cannot be read' : 'names none';
  return `No server counts: on this machine only those of ${ruling.label} do, and it ${says}. Ask those who run the machine.`;
}

/** The list for people: one server a line, or that there is none. Nothing is cut, since the end says what to do. */
export function listPieces(rows: readonly Row[], empty: string): Piece[] {
  if (rows.length === 0) return [line(empty)];
  const cells = rows.map(({ name, written, health }) => [name, written.scope, written.label, health.text]);
  return table(cells, { columns: undefined }).map((text, at) => {
    const [mark, tone] = MARKS[(rows[at] as Row).health.state];
    return line([mark, tone], ` ${text}`);
  });
}
