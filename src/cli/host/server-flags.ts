import { type Command, InvalidArgumentError, Option } from 'commander';
import type { HostServerEntry } from '../../host/host-options.ts';
import { neutralise } from '../chat/neutralise.ts';
import { splitWords } from './split-words.ts';

/** The servers of a command, by name. */
export type ServerMap = Readonly<Record<string, HostServerEntry>>;

/** Gives a command the flags that name servers. */
export function addServerFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--mcp-config <file>',
        'servers instead of those configured: a file with "mcpServers", or its text; may be repeated',
      ).argParser(several),
    )
    .addOption(
      new Option('--stdio <command line>', 'a server instead of those configured, named "server": a command')
        .argParser(once)
        .conflicts('url'),
    )
    .addOption(
      new Option('--url <url>', 'a server instead of those configured, named "server": an address').argParser(
        once,
      ),
    );
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

/** The names given by `--server`; undefined if there are none. */
export function chosenNames(command: Command): readonly string[] | undefined {
  const { server } = command.opts<{ server?: string[] }>();
  return server && [...new Set(server)];
}

/** Ends the command with 2. */
export function refuse(command: Command, fault: string): never {
  return command.error(`error: ${neutralise(fault)}`, { exitCode: 2 });
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

type Given = { readonly mcpConfig?: string[]; readonly stdio?: string; readonly url?: string };

/** What the flags name, as `--mcp-config` takes it; undefined if they name nothing. What cannot be meant ends the command with 2. */
export function flagConfigs(command: Command): readonly string[] | undefined {
  const { mcpConfig = [], stdio, url } = command.opts<Given>();
  const one = stdio !== undefined ? stdioEntry(command, stdio) : url !== undefined ? { url } : undefined;
  const all = one ? [...mcpConfig, literalConfig({ server: one })] : mcpConfig;
  return all.length === 0 ? undefined : all;
}

/** A command line is what it is: its shell has put in what was to be put in. */
function literalConfig(mcpServers: object): string {
  return JSON.stringify({ mcpServers }).replaceAll('${', () => '$${');
}

function stdioEntry(command: Command, line: string): { command: string; args: string[] } {
  const words = splitWords(line);
  if (!Array.isArray(words)) return refuse(command, `--stdio: ${words.fault}`);
  const [program, ...args] = words;
  if (program === undefined) return refuse(command, '--stdio takes a command, and there is none');
  return { command: program, args };
}
