import { type Command, InvalidArgumentError, Option } from 'commander';
import type { HostServerEntry } from '../../host/host-options.ts';
import { collect, usageError } from './flag-values.ts';

/** The servers of a command, by name. */
export type ServerMap = Readonly<Record<string, HostServerEntry>>;

/** Adds the flags that define servers to a command. */
export function addServerFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--mcp-config <file>',
        'use these servers instead of the configured ones: a JSON file with "mcpServers", or JSON text; may be repeated',
      ).argParser(collect),
    )
    .addOption(
      new Option('--stdio <command line>', 'use one server, named "server", started by this command')
        .argParser(once)
        .conflicts('url'),
    )
    .addOption(new Option('--url <url>', 'use one server, named "server", at this URL').argParser(once));
}

/** Adds `--server`, which selects servers, to a command. */
export function addServerChoice(command: Command): Command {
  return command.addOption(
    new Option('-s, --server <name>', 'only this server; may be repeated').argParser(collect),
  );
}

/** The names given by `--server`; undefined if there are none. */
export function chosenNames(command: Command): readonly string[] | undefined {
  const { server } = command.opts<{ server?: string[] }>();
  return server && [...new Set(server)];
}

/** Refuses a repeated `--stdio` or `--url`: both define one server, which is named "server". */
function once(value: string, before: unknown): string {
  if (before === undefined) return value;
  throw new InvalidArgumentError('Given more than once: use --mcp-config for several servers.');
}

type Given = { readonly mcpConfig?: string[]; readonly stdio?: string; readonly url?: string };

/** The servers of the flags as values of `--mcp-config`; undefined if there are none. */
export function flagConfigs(command: Command): readonly string[] | undefined {
  const { mcpConfig = [], stdio, url } = command.opts<Given>();
  const one = stdio !== undefined ? stdioEntry(command, stdio) : url !== undefined ? { url } : undefined;
  const all = one ? [...mcpConfig, literalConfig({ server: one })] : mcpConfig;
  return all.length === 0 ? undefined : all;
}

/** The shell has expanded variables already: `${` is escaped so that it is not expanded again. */
function literalConfig(mcpServers: object): string {
  return JSON.stringify({ mcpServers }).replaceAll('${', () => '$${');
}

function stdioEntry(command: Command, line: string): { command: string; args: string[] } {
  const split = splitCommandLine(line);
  if (!Array.isArray(split)) return usageError(command, `--stdio: ${split.fault}`);
  const [program, ...args] = split;
  if (program === undefined) return usageError(command, '--stdio needs a command');
  return { command: program, args };
}
/** Splits a command line like a shell: quotes and backslashes only, no expansion. */
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
      // Any other backslash is part of a Windows path.
      word = (word ?? '') + next;
      at++;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return { fault: `the ${quote} at character ${opened} is not closed` };
  return word === undefined ? args : [...args, word];
}
