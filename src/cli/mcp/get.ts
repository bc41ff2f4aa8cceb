import type { Command } from 'commander';
import type { Configuration } from '../../config/configuration.ts';
import { maskEntry } from '../../config/explain/mask-entry.ts';
import { describeIgnored } from '../../config/explain/server-record.ts';
import type { ConfiguredServer, LostServer, WrittenServer } from '../../config/model.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../flags/flag-values.ts';
import { ExitCode } from '../output/failure.ts';
import { line, type Piece } from '../terminal/render.ts';
import { entriesOf, unknownServer, whereDocument, whereText } from './entries.ts';
import { allLost, type Health, healthOf, isTrouble, MARKS, unmetOf, verdictText } from './health.ts';
import { freshConfiguration, inSession, type Session, type Statuses, withStatuses } from './session.ts';

const HELP = `
Where the server is defined, the place that counts first; its entry as written, with values that may be secret hidden;
whether it may be started; and, if it may, whether it answers and how many tools it has.

  toolplane mcp get github
  toolplane mcp get github --no-connect    start nothing

A server that waits for approval is shown and never started. toolplane explain server <name> tells the whole derivation.

Exit codes:
  0    it is there, and connected if it was dialled; or it waits for a person
  1    it failed, is broken, or is blocked
  2    there is no such server, or the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

type Values = { json?: true; connect: boolean };

/** `toolplane mcp get`: one server, wherever it is defined. */
export function defineGet(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .option('--no-connect', 'start nothing: tell only what is configured')
    .addHelpText('after', HELP)
    .action(async (name: string, values: Values) => {
      const code = await startGet({ name, connects: values.connect }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

/** `toolplane mcp get`; gives its exit code. */
export function startGet(
  { name, connects }: { readonly name: string; readonly connects: boolean },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session, {}, connects ? 'ask' : 'remember');
    if (entriesOf(configuration, name).length === 0) throw unknownServer(configuration, name);
    const server = configuration.merged.servers.find((it) => it.name === name);
    return withStatuses(session, configuration, server && connects ? [server] : [], (statuses) =>
      show(session, foundOf(configuration, name, statuses)),
    );
  });
}

async function show(session: Session, found: Found): Promise<number> {
  const { name, server, health, lost } = found;
  await session.answer({
    document: {
      name,
      ...(server && {
        defined: whereDocument(server.written),
        entry: maskEntry(server.written.raw),
        verdict: { kind: server.verdict.kind, text: verdictText(name, server.verdict) ?? 'ready' },
        settled: server.settled,
      }),
      ...(health && { health }),
      lost: lost.map((it) => ({
        ...whereDocument(it.written),
        entry: maskEntry(it.written.raw),
        why: it.why,
        text: describeIgnored(it),
      })),
    },
    pieces: getPieces(found),
  });
  return health === undefined || isTrouble(health) ? 1 : 0;
}

/** One name: the entry that has it, if one does, and those that do not count. */
export type Found = {
  readonly name: string;
  readonly server?: ConfiguredServer;
  readonly health?: Health;
  readonly lost: readonly LostServer[];
};

export function foundOf(configuration: Configuration, name: string, statuses: Statuses): Found {
  const server = configuration.merged.servers.find((it) => it.name === name);
  const lost = allLost(configuration).filter(({ written }) => written.name === name);
  return {
    name,
    lost,
    ...(server && { server, health: healthOf(server, statuses[name], unmetOf(configuration)) }),
  };
}

/** One server for people. */
export function getPieces({ name, server, health, lost }: Found): Piece[] {
  const ofServer =
    server && health
      ? [
          line('  ', MARKS[health.state], ` ${health.text}`, ...introduced(health.serverInfo)),
          line(`  defined in ${whereText(server.written)}`),
          ...entryRows(server.written),
          ...server.settled.map(({ member, label }) => line(`  "${member}" is set in ${label}`)),
        ]
      : [line(['  no entry of this name counts', 'warn'])];
  const others = lost.flatMap((it) => [
    line(`  ${server ? 'also ' : ''}in ${whereText(it.written)}: `, [describeIgnored(it), 'dim']),
    ...entryRows(it.written),
  ]);
  return [line([name, 'strong']), ...ofServer, ...others];
}

function introduced(info: { readonly name: string; readonly version: string } | undefined): string[] {
  return info ? [`, ${info.name} ${info.version}`] : [];
}

/** The entry as it stands in the file, with what may be secret hidden. */
function entryRows({ raw }: WrittenServer): Piece[] {
  return JSON.stringify(maskEntry(raw), null, 2)
    .split('\n')
    .map((row) => line(`    ${row}`));
}
