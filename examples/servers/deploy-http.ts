// The deployment server over Streamable HTTP on loopback, written with the official MCP SDK. It prints its URL as the
// first line of stdout and exits when its stdin closes.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const deployments: string[] = [];

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'deploy', version: '1.0.0' });
  server.registerTool(
    'trigger',
    {
      description: 'Deploy a service',
      inputSchema: z.object({
        service: z.string(),
        environment: z.enum(['staging', 'production']).default('staging'),
      }),
      annotations: { destructiveHint: true },
    },
    async ({ service, environment }) => {
      const id = `deploy-${deployments.push(`${service} to ${environment}`)}`;
      return { content: [{ type: 'text', text: `Started ${id}: ${service} to ${environment}` }] };
    },
  );
  server.registerTool(
    'status',
    {
      description: 'What was deployed so far',
      inputSchema: z.object({}),
      annotations: { readOnlyHint: true },
    },
    async () => ({ content: [{ type: 'text', text: deployments.join('; ') || 'Nothing yet' }] }),
  );
  return server;
});

const http = createServer(async (incoming, outgoing) => {
  if (!isLocal(incoming)) {
    outgoing.writeHead(403).end();
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const request = new Request(new URL(incoming.url ?? '/', `http://${incoming.headers.host}`), {
    method: incoming.method ?? 'GET',
    headers: incoming.headers as Record<string, string>,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  });
  const response = await handler.fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
});

/** Rejects requests of web pages (DNS rebinding): only the own host, no Origin header. */
function isLocal({ headers }: IncomingMessage): boolean {
  return headers.host === `127.0.0.1:${(http.address() as AddressInfo).port}` && headers.origin === undefined;
}

http.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
});
process.stdin.resume().on('end', async () => {
  http.closeAllConnections();
  http.close();
  await handler.close();
});
