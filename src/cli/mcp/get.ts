import type { Command } from 'commander';
import type { Configuration } from '../../config/configuration.ts';
import { maskEntry } from '../../config/explain/mask-entry.ts';
import {
  describeIgnored,
  isFailing,
  type ServerRecord,
  serverRecord,
  shortStatus,
} from '../../config/explain/server-record.ts';
import type { WrittenServer } from '../../config/model.ts';
import { addJsonFlag, formatOf, type McpFormat } from '../flags/flag-values.ts';
import { ExitCode } from '../output/failure.ts';
import { line, type Piece } from '../terminal/render.ts';
import { authText, STATE_MARKS, statusDocument, unknownServer, whereDocument, whereText } from './entries.ts';
import { freshConfiguration, inSession, withObserved } from './session.ts';

const HELP = `
Shows where the server is defined, the active entry first, each entry as written with secrets masked; whether the server
may be started; and, if so, whether it connects and how many tools it has.

  toolplane mcp get github
  toolplane mcp get github --no-connect    show only the configuration

A server that is pending approval is shown and never started. For its sources, precedence, variables and policy, run
toolplane explain server <name>.

Exit codes:
  0    the server is connected, ready, or pending approval
  1    the server failed, its entry cannot be used, or policy blocks it
  2    unknown server, or usage error
  130  interrupted (129, 143: hangup, termination)`;

type Values = { json?: true; connect: boolean };

/** `toolplane mcp get`: one server with all its entries. */
export function defineGet(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .option('--no-connect', 'do not connect to the server; show only the configuration')
    .addHelpText('after', HELP)
    .action(async (name: string, values: Values) => {
      const code = await startGet({ name, connects: values.connect }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

function startGet(
  { name, connects }: { readonly name: string; readonly connects: boolean },
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async (session) => {
    const configuration = await freshConfiguration(session, {}, connects ? 'ask' : 'remember');
    const { server, state } = serverRecord(configuration, name);
    if (state === 'unknown') throw unknownServer(configuration, name);
    return withObserved(session, configuration, server && connects ? [server] : [], async (observe) => {
      const record = serverRecord(configuration, name, observe(name));
      await session.answer({
        document: recordDocument(configuration, record),
        pieces: recordPieces(record),
      });
      return server === undefined || isFailing(record) ? 1 : 0;
    });
  });
}

function recordDocument(configuration: Configuration, record: ServerRecord): object {
  const { name, server, ignored } = record;
  return {
    name,
    ...(server && {
      defined: whereDocument(server.written),
      entry: maskEntry(server.written.raw),
      verdict: { kind: server.verdict.kind, text: shortStatus(serverRecord(configuration, name)) },
      settled: server.settled,
      health: statusDocument(record),
    }),
    lost: ignored.map((it) => ({
      ...whereDocument(it.written),
      entry: maskEntry(it.written.raw),
      why: it.why,
      text: describeIgnored(it),
    })),
  };
}

function recordPieces(record: ServerRecord): Piece[] {
  const { name, server, ignored } = record;
  const { text, serverInfo } = statusDocument(record);
  const info = serverInfo ? `, ${serverInfo.name} ${serverInfo.version}` : '';
  const auth = record.auth && authText(record.auth);
  const active = server
    ? [
        line('  ', STATE_MARKS[record.state], ` ${text}${info}`),
        ...(auth === undefined ? [] : [line(`  ${auth}`)]),
        line(`  defined in ${whereText(server.written)}`),
        ...entryRows(server.written),
        ...server.settled.map(({ member, label }) => line(`  "${member}" is set in ${label}`)),
      ]
    : [line(['  no entry of this name is active', 'warn'])];
  const others = ignored.flatMap((it) => [
    line(`  ${server ? 'also ' : ''}in ${whereText(it.written)}: `, [describeIgnored(it), 'dim']),
    ...entryRows(it.written),
  ]);
  return [line([name, 'strong']), ...active, ...others];
}

/** The entry as written, with secrets masked. */
function entryRows({ raw }: WrittenServer): Piece[] {
  return JSON.stringify(maskEntry(raw), null, 2)
    .split('\n')
    .map((row) => line(`    ${row}`));
}
