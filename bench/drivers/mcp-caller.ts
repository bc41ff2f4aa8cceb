import type { Client } from '@modelcontextprotocol/client';
import type * as HostPackage from 'toolplane/host';

/** Who calls: our host as it was built, or the SDK's own client. */
export type Side = { who: 'host'; host: string } | { who: 'bare' };

/** Where the tiny server is: a URL, or a script to run. */
export type Target = { url: string } | { script: string };

/** The one tool of the tiny servers, and the end. */
export type Caller = { call(n: number): Promise<unknown>; close(): Promise<void> };

/** Connects one side to one tiny server. */
export async function openCaller(side: Side, target: Target): Promise<Caller> {
  if (side.who === 'bare') {
    const client = await connectBare(target);
    return {
      call: (n) => client.callTool({ name: 'say', arguments: { n } }),
      close: () => client.close(),
    };
  }
  const { createHost } = (await import(side.host)) as typeof HostPackage;
  const host = createHost({ mcpServers: { tiny: entryOf(target) } });
  await host.ready({ servers: ['tiny'] });
  return { call: (n) => host.callTool('tiny', 'say', { n }), close: () => host.close() };
}

/** A tiny server as the host's entry for it. */
export function entryOf(target: Target): HostPackage.HostServerEntry {
  return 'url' in target
    ? { type: 'http', url: target.url }
    : { command: process.execPath, args: [target.script] };
}

/** The client and the transports people write by hand; it asks which protocol is spoken, as the host does. */
export async function connectBare(target: Target): Promise<Client> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const isHttp = 'url' in target;
  const client = new Client(
    { name: 'bare', version: '1.0.0' },
    // On stdio asking would start a second process.
    isHttp ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(
    isHttp
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ command: process.execPath, args: [target.script], stderr: 'ignore' }),
  );
  return client;
}
