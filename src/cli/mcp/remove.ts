import { type Command, Option } from 'commander';
import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { type ServerRecord, serverRecord, shortStatus } from '../../config/explain/server-record.ts';
import type { WrittenServer } from '../../config/model.ts';
import { removeServer, type WritableScope } from '../../config/write/write-servers.ts';
import { addJsonFlag, formatOf, type McpFormat, scopeName } from '../flags/flag-values.ts';
import { CommandFailed, ExitCode, UsageError } from '../output/failure.ts';
import { line } from '../terminal/render.ts';
import { entriesOf, entryText, unknownServer, whereDocument, whereText } from './entries.ts';
import { inSession } from './session.ts';

const HELP = `
Removes the entry from its file and reports which entry the name refers to now. Comments and everything else in the
file are kept. If several scopes have the name, --scope selects one.

  toolplane mcp remove github
  toolplane mcp remove github --scope user

Exit codes:
  0  the entry was removed
  1  the file cannot be written
  2  unknown server, or several scopes have the name`;

type Values = { json?: true; scope?: WritableScope };

/** `toolplane mcp remove`, and its alias `rm`. */
export function defineRemove(command: Command): void {
  addJsonFlag(command)
    .argument('<name>', 'the server')
    .addOption(new Option('-s, --scope <scope>', 'the scope: local, project or user').argParser(scopeName))
    .addHelpText('after', HELP)
    .action(async (name: string, values: Values) => {
      const { scope } = values;
      const code = await startRemove({ name, ...(scope && { scope }) }, formatOf(values), process.env);
      if (code !== 0) throw new ExitCode(code);
    });
}

export type RemoveRequest = { readonly name: string; readonly scope?: WritableScope };

/** Runs `toolplane mcp remove`; returns its exit code. */
export function startRemove(
  request: RemoveRequest,
  format: McpFormat,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return inSession(format, env, async ({ context, answer }) => {
    const { name } = request;
    const target = entryToRemove(await readConfiguration(context), request);
    if (!removeServer(context, target.path, name)) {
      throw new CommandFailed(`${whereText(target)}: "${name}" was removed by another program`);
    }
    const record = serverRecord(await readConfiguration(context), name);
    const now = record.server;
    const removed = { name, ...whereDocument(target) };
    await answer({
      document: {
        removed,
        ...(now && { now: { ...whereDocument(now.written), verdict: now.verdict.kind } }),
      },
      pieces: [
        line('removed ', [name, 'strong'], ` (${entryText(target.raw)}) from ${whereText(target)}`),
        line(`  ${leftText(record)}`),
      ],
    });
    return 0;
  });
}

/** Which entry the name refers to after the removal. */
export function leftText(record: ServerRecord): string {
  const { name, server } = record;
  if (!server) return `no other entry has the name "${name}"`;
  const place = `the entry in ${whereText(server.written)} (${entryText(server.written.raw)})`;
  return record.state === 'ready'
    ? `${place} is active`
    : `the name now refers to ${place}: ${shortStatus(record)}`;
}

type Removable = WrittenServer & { readonly path: string };

/** The entry to remove: the only one, or the nearest of the scope. */
function entryToRemove(configuration: Configuration, { name, scope }: RemoveRequest): Removable {
  const all = entriesOf(configuration, name);
  if (all.length === 0) throw unknownServer(configuration, name);
  const own = all.filter(isOurs);
  const [first] = own;
  if (!first) {
    const places = all.map(whereText).join('; ');
    throw new UsageError(`"${name}" cannot be removed with this command: it is defined in ${places}`);
  }
  const scopes = [...new Set(own.map((it) => it.scope))];
  if (scope === undefined && scopes.length > 1) {
    const places = own.map((it) => `--scope ${it.scope} (${it.label})`).join(', ');
    throw new UsageError(`"${name}" is in ${scopes.length} scopes; select one: ${places}`);
  }
  const target = scope === undefined ? first : own.find((it) => it.scope === scope);
  if (target) return target;
  const there = own.map(whereText).join('; ');
  throw new UsageError(`no server "${name}" in scope ${scope}; it is in ${there}`);
}

function isOurs(written: WrittenServer): written is Removable {
  return written.path !== undefined && ['local', 'project', 'user'].includes(written.scope);
}
