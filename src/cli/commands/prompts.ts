import type { Command } from 'commander';
import { didYouMean } from '../../base/text/nearest.ts';
import type { Prompt } from '../../mcp/discovery/list-entries.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { FilledPrompt } from '../../mcp/features/feature-results.ts';
import { type Actions, parseAction, usageError } from '../flags/flag-values.ts';
import { addServerChoice, addServerFlags, chosenNames } from '../flags/server-flags.ts';
import { type NamedServers, namedServers } from '../host/named-servers.ts';
import { type Connected, printList, requireServers, withHost } from '../host/with-host.ts';
import { partsOf, partsText } from '../output/content-parts.ts';
import { exitWith, UsageError } from '../output/failure.ts';
import { firstLine, jsonDocument } from '../output/format.ts';
import { tablePerServer } from '../terminal/table.ts';

const HELP = `
Connects the servers, lists their prompts or gets one, and disconnects. Arguments of prompts are strings.

  toolplane prompts                                                 the prompts of the configured servers
  toolplane prompts get docs review file=README.md
  toolplane prompts --mcp-config servers.json                       only the servers of this file

Exit codes:
  0    success
  1    a server could not be connected, or rejected the request; the reason is on stderr
  2    usage error: unknown prompt or missing argument
  130  interrupted (129, 143: hangup, termination)`;

const ACTIONS: Actions<'list' | 'get'> = {
  list: [0, 0, ''],
  get: [2, Number.POSITIVE_INFINITY, '<server> <prompt> [key=value…]'],
};

/** `toolplane prompts`: lists prompts, or gets one. */
export function definePrompts(command: Command): void {
  addServerChoice(addServerFlags(command))
    .usage('[options] [list | get <server> <prompt> [key=value…]]')
    .argument('[words...]', 'list, or get <server> <prompt> [key=value…]')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .action(async (given: string[], { json }: { json?: true }, command: Command) => {
      const action = parseAction(command, given, ACTIONS);
      const [, server = '', prompt = '', ...pairs] = given;
      const args = textArguments(command, pairs);
      const named = await namedServers(command, action === 'get' ? [server] : chosenNames(command));
      const request = { ...named, format: json ? ('json' as const) : ('text' as const) };
      exitWith(
        await startPrompts(
          action === 'get' ? { ...request, action, server, prompt, args } : { ...request, action },
          process.env,
        ),
      );
    });
}

function textArguments(command: Command, args: readonly string[]): Record<string, string> {
  const entries = args.map((word) => {
    const at = word.indexOf('=');
    if (at < 1) usageError(command, `argument ${JSON.stringify(word)} is not key=value`);
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return Object.fromEntries(entries);
}

export type PromptsRequest = NamedServers & {
  readonly format: 'text' | 'json';
} & (
    | { readonly action: 'list' }
    | {
        readonly action: 'get';
        readonly server: string;
        readonly prompt: string;
        readonly args: Readonly<Record<string, string>>;
      }
  );

/** Runs `toolplane prompts`; returns its exit code. */
export function startPrompts(request: PromptsRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request, env, async (connected) => {
    if (request.action === 'get') return get(connected, request);
    const list = (options: { signal: AbortSignal }) => connected.host.listPrompts(undefined, options);
    return printList(connected, request.format, 'prompts', list, promptTable);
  });
}

async function get(
  connected: Connected,
  { server, prompt, args, format }: Extract<PromptsRequest, { action: 'get' }>,
): Promise<number> {
  requireServers(connected);
  const { host, output, spinner, signal } = connected;
  spinner.show(() => `${server} ${prompt}`);
  const filled = await host.getPrompt(server, prompt, args, { signal }).catch(refused);
  spinner.stop();
  await output.print(format === 'json' ? jsonDocument(filled) : filledText(filled));
  // The list is cached by now.
  const listed = (await host.listPrompts(server, { signal })).find(({ name }) => name === prompt);
  const known = listed?.arguments.map(({ name }) => name) ?? [];
  for (const name of Object.keys(args).filter((it) => !known.includes(it))) {
    output.report(`${server} ${prompt}: ${unlistedText(name, known)}`);
  }
  return 0;
}

function unlistedText(name: string, known: readonly string[]): string {
  const accepted = known.length === 0 ? 'none' : known.join(', ');
  return `unknown argument "${name}"${didYouMean(name, known) || ` (accepted: ${accepted})`}`;
}

/** An unknown prompt or a missing argument is a usage error. */
function refused(cause: unknown): never {
  if (cause instanceof HostError && cause.code === 'not-offered') throw new UsageError(cause.message);
  throw cause;
}

/** Prompts by server: name, arguments and description. */
export function promptTable(
  all: readonly (Prompt & { readonly server: string })[],
  columns: number | undefined,
): string[] {
  return tablePerServer(all, 'prompt', columns, (it) => [
    it.name,
    argumentsText(it),
    firstLine(it.description),
  ]);
}

/** `who=… [mood=…]`: arguments in brackets are optional. */
export function argumentsText({ arguments: all }: Pick<Prompt, 'arguments'>): string {
  return all.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(' ');
}

/** The messages of a prompt, each below its role. */
export function filledText({ messages }: FilledPrompt): string {
  return messages.map(({ role, content }) => `${role}:\n${partsText(partsOf([content]))}`).join('\n');
}
