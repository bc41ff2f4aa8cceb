import { type Command, InvalidArgumentError, Option } from 'commander';
import { nearest } from '../../base/nearest.ts';
import type { HostServerEntry } from '../../host/host-options.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { checkExternalEntry } from '../../protocol/server-entry.ts';
import { neutralise } from '../chat/neutralise.ts';
import { readMcpConfigs } from '../read-mcp-config.ts';
import { jsonText } from './lines.ts';
import { splitWords } from './split-words.ts';

/** The servers of a command, by name. */
export type ServerMap = Readonly<Record<string, HostServerEntry>>;

/** Gives a command the flags that name servers. */
export function addServerFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--mcp-config <file>',
        'servers: a file with "mcpServers", or its text; may be repeated',
      ).argParser(several),
    )
    .addOption(
      new Option('--stdio <command line>', 'one more server, named "server": a command')
        .argParser(once)
        .conflicts('url'),
    )
    .addOption(new Option('--url <url>', 'one more server, named "server": an address').argParser(once));
}

/** Gives a command the flag that keeps it to some of the servers. */
export function addServerChoice(command: Command): Command {
  return command.addOption(
    new Option('-s, --server <name>', 'keep to this server; may be repeated').argParser(several),
  );
}

/** The number of milliseconds a flag takes. */
export function milliseconds(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It takes milliseconds, 1 or more.');
  return Number(value);
}

/** The servers the flags name, or those of them that are wanted; what cannot be used ends the command with 2. */
export function namedServers(command: Command, wanted?: readonly string[]): ServerMap {
  const all = allServers(command);
  const names = [...all.keys()];
  if (names.length === 0) {
    refuse(
      command,
      'there are no servers: name some with --mcp-config <file>, --stdio <command> or --url <url>',
    );
  }
  for (const name of wanted ?? []) if (!all.has(name)) refuse(command, unknownServer(name, names));
  return Object.fromEntries(wanted ? wanted.map((name) => [name, all.get(name) as HostServerEntry]) : all);
}

/** The names given by `--server`; undefined if there are none. */
export function chosenNames(command: Command): readonly string[] | undefined {
  const { server } = command.opts<{ server?: string[] }>();
  return server && [...new Set(server)];
}

/** Ends the command with 2; who wants a document gets one. */
export function refuse(command: Command, fault: string): never {
  const message = neutralise(fault);
  if (command.opts<{ json?: true }>().json) process.stdout.write(jsonText({ error: { message } }));
  return command.error(`error: ${message}`, { exitCode: 2 });
}

/** Collects what a flag that may be repeated was given. */
function several(value: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), value];
}

/** Two servers of one name cannot be. */
function once(value: string, before: unknown): string {
  if (before === undefined) return value;
  throw new InvalidArgumentError('It is given more than once: name several servers in a file.');
}

/** What is said of a server nobody named. */
function unknownServer(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `there is no server "${name}"${hint} (there are ${known.join(', ')})`;
}

type Given = { readonly mcpConfig?: string[]; readonly stdio?: string; readonly url?: string };

function allServers(command: Command): ReadonlyMap<string, HostServerEntry> {
  const { mcpConfig = [], stdio, url } = command.opts<Given>();
  try {
    const named = Object.entries(readMcpConfigs(mcpConfig)) as [string, HostServerEntry][];
    const one = stdio !== undefined ? stdioEntry(stdio) : url !== undefined ? { url } : undefined;
    return new Map(one ? [...named, ['server', checkExternalEntry('server', one)]] : named);
  } catch (cause) {
    if (!(cause instanceof SdkError)) throw cause;
    return refuse(command, cause.message);
  }
}

function stdioEntry(line: string): { command: string; args: string[] } {
  const words = splitWords(line);
  if (!Array.isArray(words)) throw new SdkError('bad-server', `--stdio: ${words.fault}`);
  const [command, ...args] = words;
  if (command === undefined) throw new SdkError('bad-server', '--stdio takes a command, and there is none');
  return { command, args };
}
