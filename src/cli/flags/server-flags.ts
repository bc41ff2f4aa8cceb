import { type Command, InvalidArgumentError, Option } from 'commander';
import type { HostServerEntry } from '../../host/host-options.ts';
import { sanitize } from '../terminal/text.ts';
import { collect } from './flag-values.ts';

/** The servers of a command, by name. */
export type ServerMap = Readonly<Record<string, HostServerEntry>>;

/** Gives a command the flags that name servers. */
export function addServerFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--mcp-config <file>',
        'servers instead of those configured: a file with "mcpServers", or its text; may be repeated',
      ).argParser(collect),
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
    new Option('-s, --server <name>', 'keep to this server; may be repeated').argParser(collect),
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
export function usageError(command: Command, fault: string): never {
  return command.error(`error: ${sanitize(fault)}`, { exitCode: 2 });
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
  const split = splitCommandLine(line);
  if (!Array.isArray(split)) return usageError(command, `--stdio: ${split.fault}`);
  const [program, ...args] = split;
  if (program === undefined) return usageError(command, '--stdio takes a command, and there is none');
  return { command: program, args };
}
/** The words of a command line as a shell would read them: quotes and backslashes, and nothing else a shell does. */
export function splitCommandLine(line: string): string[] | { readonly fault: string } {
  const args: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  let opened = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    const next = line[at + 1];
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (char === '\\' && quote === '"' && (next === '"' || next === '\\'))
        word += line[++at] as string;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      opened = at + 1;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) args.push(word);
      word = undefined;
    } else if (char === '\\' && next !== undefined && /[\s"'\\]/.test(next)) {
      // Any other backslash is one of a path of Windows.
      word = (word ?? '') + next;
      at++;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return { fault: `the ${quote} at character ${opened} is not closed` };
  return word === undefined ? args : [...args, word];
}
