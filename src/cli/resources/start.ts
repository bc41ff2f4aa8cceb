import { partsText, resourceParts } from '../host/content-parts.ts';
import { jsonText, lines } from '../host/lines.ts';
import { makeDirectory } from '../host/make-directory.ts';
import type { NamedServers } from '../host/named-servers.ts';
import { saveParts } from '../host/save-parts.ts';
import { type Connected, needServers, tellFaults, tellWarnings, withHost } from '../host/with-host.ts';
import { resourceTable, templateTable } from './resource-table.ts';

export type ResourcesRequest = NamedServers & {
  readonly format: 'text' | 'json';
  /** Where binary content goes. */
  readonly directory?: string;
} & (
    | { readonly action: 'list' | 'templates' }
    | { readonly action: 'read'; readonly server: string; readonly uri: string }
  );

/** `toolplane resources`; gives its exit code. */
export function startResources(request: ResourcesRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request, env, async (connected) => {
    if (request.action === 'read') return read(connected, request);
    const { host, output, signal } = connected;
    const known = connected.warnings.length;
    const isJson = request.format === 'json';
    if (request.action === 'list') {
      const resources = await host.listResources(undefined, { signal });
      await output.print(isJson ? jsonText({ resources }) : lines(resourceTable(resources, output.columns)));
    } else {
      const resourceTemplates = await host.listResourceTemplates(undefined, { signal });
      const text = () => lines(templateTable(resourceTemplates, output.columns));
      await output.print(isJson ? jsonText({ resourceTemplates }) : text());
    }
    tellWarnings(connected, known);
    return tellFaults(connected);
  });
}

async function read(
  connected: Connected,
  { server, uri, format, directory }: Extract<ResourcesRequest, { action: 'read' }>,
): Promise<number> {
  needServers(connected);
  const { host, output, spinner, signal } = connected;
  if (directory !== undefined) await makeDirectory(directory);
  spinner.show(() => `${server} ${uri}`);
  const found = await host.readResource(server, uri, { signal });
  spinner.stop();
  const parts = found.contents.flatMap((it) => resourceParts(it));
  // What was asked for by its address need not be named again.
  const [head, text] = parts;
  const shown = parts.length === 2 && text?.kind === 'text' && head?.kind === 'thing' ? [text] : parts;
  const saved = directory === undefined ? undefined : await saveParts(shown, directory, server, signal);
  await output.print(
    format === 'json'
      ? jsonText({ ...found, ...(saved && { files: saved.files }) })
      : partsText(saved?.parts ?? shown),
  );
  for (const fault of saved?.faults ?? []) output.tell(fault);
  return saved === undefined || saved.faults.length === 0 ? 0 : 1;
}
