import type { Command } from 'commander';
import type { Resource, ResourceTemplate } from '../../mcp/discovery/list-entries.ts';
import { type Actions, parseAction } from '../flags/flag-values.ts';
import { addServerChoice, addServerFlags, chosenNames } from '../flags/server-flags.ts';
import { type NamedServers, namedServers } from '../host/named-servers.ts';
import { type Connected, printList, requireServers, withHost } from '../host/with-host.ts';
import { makeDirectory, partsText, resourceParts, saveParts } from '../output/content-parts.ts';
import { exitWith } from '../output/failure.ts';
import { firstLine, formatBytes, jsonDocument } from '../output/format.ts';

import { tablePerServer } from '../terminal/table.ts';

const HELP = `
Connects the servers, lists or reads their resources, and disconnects.

  toolplane resources                                               the resources of the configured servers
  toolplane resources templates                                     URI templates
  toolplane resources read docs docs://start
  toolplane resources --mcp-config servers.json                     only the servers of this file

Text is printed as received; for other data one line shows type and size, and --output saves it.

Exit codes:
  0    success
  1    a server could not be connected, or the resource could not be read; the reason is on stderr
  2    usage error
  130  interrupted (129, 143: hangup, termination)`;

const ACTIONS: Actions<'list' | 'templates' | 'read'> = {
  list: [0, 0, ''],
  templates: [0, 0, ''],
  read: [2, 2, '<server> <uri>'],
};

type Values = { json?: true; output?: string };

/** `toolplane resources`: lists and reads resources. */
export function defineResources(command: Command): void {
  addServerChoice(addServerFlags(command))
    .usage('[options] [list | templates | read <server> <uri>]')
    .argument('[words...]', 'list, templates, or read <server> <uri>')
    .option('--json', 'print one JSON document')
    .option('-o, --output <directory>', 'save binary content to files in this directory')
    .addHelpText('after', HELP)
    .action(async (args: string[], { json, output }: Values, command: Command) => {
      const action = parseAction(command, args, ACTIONS);
      const [, server = '', uri = ''] = args;
      const named = await namedServers(command, action === 'read' ? [server] : chosenNames(command));
      const request = {
        ...named,
        format: json ? ('json' as const) : ('text' as const),
        ...(output !== undefined && { directory: output }),
      };
      exitWith(
        await startResources(
          action === 'read' ? { ...request, action, server, uri } : { ...request, action },
          process.env,
        ),
      );
    });
}

export type ResourcesRequest = NamedServers & {
  readonly format: 'text' | 'json';
  /** The directory for binary content. */
  readonly directory?: string;
} & (
    | { readonly action: 'list' | 'templates' }
    | { readonly action: 'read'; readonly server: string; readonly uri: string }
  );

/** Runs `toolplane resources`; returns its exit code. */
export function startResources(request: ResourcesRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request, env, async (connected) => {
    if (request.action === 'read') return read(connected, request);
    const { host } = connected;
    const { format } = request;
    type ListOptions = { signal: AbortSignal };
    if (request.action === 'list') {
      const list = (options: ListOptions) => host.listResources(undefined, options);
      return printList(connected, format, 'resources', list, resourceTable);
    }
    const list = (options: ListOptions) => host.listResourceTemplates(undefined, options);
    return printList(connected, format, 'resourceTemplates', list, templateTable);
  });
}

async function read(
  connected: Connected,
  { server, uri, format, directory }: Extract<ResourcesRequest, { action: 'read' }>,
): Promise<number> {
  requireServers(connected);
  const { host, output, spinner, signal } = connected;
  if (directory !== undefined) await makeDirectory(directory);
  spinner.show(() => `${server} ${uri}`);
  const found = await host.readResource(server, uri, { signal });
  spinner.stop();
  const parts = found.contents.flatMap((it) => resourceParts(it));
  // A single text is printed without the line with its URI, which the user has typed.
  const [head, text] = parts;
  const shown = parts.length === 2 && text?.kind === 'text' && head?.kind === 'thing' ? [text] : parts;
  const saved = directory === undefined ? undefined : await saveParts(shown, directory, server, signal);
  await output.print(
    format === 'json'
      ? jsonDocument({ ...found, ...(saved && { files: saved.files }) })
      : partsText(saved?.parts ?? shown),
  );
  for (const fault of saved?.faults ?? []) output.report(fault);
  return saved === undefined || saved.faults.length === 0 ? 0 : 1;
}

type Of<T> = T & { readonly server: string };

/** Resources by server: URI, type, size and description. */
export function resourceTable(all: readonly Of<Resource>[], columns: number | undefined): string[] {
  return tablePerServer(all, 'resource', columns, (it) => [
    it.uri,
    it.mimeType ?? '',
    it.size === undefined ? '' : formatBytes(it.size),
    describe(it, it.uri),
  ]);
}

/** URI templates by server. */
export function templateTable(all: readonly Of<ResourceTemplate>[], columns: number | undefined): string[] {
  return tablePerServer(all, 'template', columns, (it) => [
    it.uriTemplate,
    it.mimeType ?? '',
    describe(it, it.uriTemplate),
  ]);
}

/** Title or name, unless it repeats the URI, and the description. */
function describe({ name, title, description }: Resource | ResourceTemplate, address: string): string {
  const called = title ?? (name === address ? '' : name);
  return [called, firstLine(description)].filter((part) => part !== '').join(': ');
}
