import type { Client } from '@modelcontextprotocol/client';
import type * as HostPackage from 'toolplane/host';

/** The caller: the built host, or the SDK's own client. */
export type Side = { who: 'host'; host: string } | { who: 'bare' };

/** A plain HTTP request without any client. `mode`: as a client of MCP 2025-11-25 or of 2026-07-28; without it, for a minimal server. */
export type RawSide = { who: 'raw'; mode?: 'session' | 'stateless' };

/** The minimal server: a URL, or a script to run. */
export type Target = { url: string } | { script: string };

/** Calls the one tool of a minimal server. */
export type Caller = { call(n: number): Promise<unknown>; close(): Promise<void> };

/** Connects one side to one minimal server. */
export async function openCaller(side: Side | RawSide, target: Target): Promise<Caller> {
  if (side.who === 'bare') {
    const client = await connectBare(target);
    return {
      call: (n) => client.callTool({ name: 'say', arguments: { n } }),
      close: () => client.close(),
    };
  }
  if (side.who === 'raw') return await openRaw(target, side.mode);
  const { createHost } = (await import(side.host)) as typeof HostPackage;
  const host = createHost({ mcpServers: { tiny: entryOf(target) } });
  await host.ready({ servers: ['tiny'] });
  return { call: (n) => host.callTool('tiny', 'say', { n }), close: () => host.close() };
}

/** Sends requests by undici without protocol negotiation; only the status is checked. */
async function openRaw(target: Target, mode: RawSide['mode']): Promise<Caller> {
  if (!('url' in target)) throw new Error('a raw request needs a URL');
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent();
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(mode === 'stateless' && STATELESS_HEADERS),
  };
  const post = async (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const response = await request(target.url, { method: 'POST', headers, body, dispatcher });
    if (response.statusCode >= 300) throw new Error(`status ${response.statusCode}`);
    return response;
  };
  if (mode === 'session') {
    const { headers: received, body } = await post({ id: 'start', method: 'initialize', params: INITIALIZE });
    await body.dump();
    headers['mcp-session-id'] = String(received['mcp-session-id']);
    headers['mcp-protocol-version'] = INITIALIZE.protocolVersion;
    await (await post({ method: 'notifications/initialized' })).body.dump();
  }
  const meta = mode === 'stateless' ? { _meta: STATELESS_META } : {};
  return {
    async call(n) {
      const params = { name: 'say', arguments: { n }, ...meta };
      const { body } = await post({ id: n, method: 'tools/call', params });
      return ((await body.json()) as { result: unknown }).result;
    },
    close: () => dispatcher.close(),
  };
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1.0.0' },
};
const STATELESS_HEADERS = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'say',
};
const STATELESS_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': INITIALIZE.clientInfo,
};

/** The host's entry for a minimal server. */
export function entryOf(target: Target): HostPackage.HostServerEntry {
  return 'url' in target
    ? { type: 'http', url: target.url }
    : { command: process.execPath, args: [target.script] };
}

/** The SDK's own client with its transports; over HTTP it negotiates the protocol version, as the host does. */
export async function connectBare(target: Target): Promise<Client> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const isHttp = 'url' in target;
  const client = new Client(
    { name: 'bare', version: '1.0.0' },
    // On stdio, negotiation would start a second process.
    isHttp ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(
    isHttp
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ command: process.execPath, args: [target.script], stderr: 'ignore' }),
  );
  return client;
}
