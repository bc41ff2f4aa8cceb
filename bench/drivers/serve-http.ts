// Serves the tool of the minimal servers over HTTP. Arguments as JSON: the server, and the URLs of the modules that it uses.
// The first line on stdin is answered with the URL of the endpoint.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type * as OfficialPackage from '@modelcontextprotocol/server';
import type * as OwnPackage from 'toolplane';
import type { z as Zod } from 'zod';

/** `session`: the official transport with sessions and JSON responses; `handler`: the official `createMcpHandler()`. */
export type ServerName = 'ours' | 'session' | 'handler';
export type ServerModules = { ours: string; server: string; node: string; zod: string; officialZod: string };

/** The part of `@modelcontextprotocol/node` that is used. */
type NodePackage = {
  toNodeHandler(handler: unknown): RequestListener;
  NodeStreamableHTTPServerTransport: new (options: {
    sessionIdGenerator(): string;
    enableJsonResponse: boolean;
    onsessioninitialized(id: string): void;
  }) => OfficialPackage.Transport & {
    handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
  };
};

const [name, modules] = process.argv.slice(2).map((arg) => JSON.parse(arg)) as [ServerName, ServerModules];
const START: Record<ServerName, () => Promise<string>> = {
  ours: startOurs,
  session: async () => await listen(await officialSessions()),
  handler: async () => await listen(await officialHandler()),
};
const url = await START[name]();
for await (const _ of createInterface(process.stdin)) console.log(JSON.stringify({ url }));
process.exit(0);

async function startOurs(): Promise<string> {
  const { toolServer } = (await import(modules.ours)) as typeof OwnPackage;
  const { z } = (await import(modules.zod)) as { z: typeof Zod };
  const server = toolServer('tiny').tool('say', 'Says a number back', { n: z.number() }, ({ n }) =>
    String(n),
  );
  return (await server.listen()).url;
}

async function officialSessions(): Promise<RequestListener> {
  const { NodeStreamableHTTPServerTransport } = (await import(modules.node)) as NodePackage;
  const create = await officialServer();
  type Transport = InstanceType<typeof NodeStreamableHTTPServerTransport>;
  const transports = new Map<string, Transport>();
  const open = async (): Promise<Transport> => {
    const transport: Transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    await create().connect(transport);
    return transport;
  };
  return async (request, response) => {
    const transport = transports.get(String(request.headers['mcp-session-id'])) ?? (await open());
    await transport.handleRequest(request, response);
  };
}

async function officialHandler(): Promise<RequestListener> {
  const { createMcpHandler } = (await import(modules.server)) as typeof OfficialPackage;
  const { toNodeHandler } = (await import(modules.node)) as NodePackage;
  return toNodeHandler(createMcpHandler(await officialServer()));
}

/** Creates the official server with the tool. */
async function officialServer(): Promise<() => OfficialPackage.McpServer> {
  const { McpServer } = (await import(modules.server)) as typeof OfficialPackage;
  const { z } = (await import(modules.officialZod)) as { z: typeof Zod };
  const inputSchema = z.object({ n: z.number() });
  return () => {
    const server = new McpServer({ name: 'tiny', version: '1.0.0' });
    server.registerTool('say', { description: 'Says a number back', inputSchema }, async ({ n }) => ({
      content: [{ type: 'text', text: String(n) }],
    }));
    return server;
  };
}

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
