import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from '../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import * as z from '../../../interop/node_modules/zod/index.js';

/** Gets an event for each cancelled call. */
export const calls = new EventTarget();

const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
const Name = z.object({ name: z.string(), size: z.number().default(7) });

/** A stateless server with tools that request input, require headers, wait, or must not be called. */
export function makeModern(): McpServer {
  const server = new McpServer(
    { name: 'modern', version: '3' },
    { instructions: 'Ask.', capabilities: { tools: { listChanged: true }, logging: {} } },
  );
  server.registerTool('ask', { inputSchema: z.object({}) }, async (_args, { mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'who', Name);
    if (given) return { ...text({ given, state: mcpReq.requestState() }), _meta: { own: 1 } };
    if (mcpReq.inputResponses?.who) return text({ refused: mcpReq.inputResponses.who });
    const who = inputRequired.elicit({ message: 'Who?', requestedSchema: Name });
    return inputRequired({ inputRequests: { who }, requestState: 'as it was' });
  });
  server.registerTool('roots', { inputSchema: z.object({}) }, async (_args, { mcpReq }) =>
    mcpReq.inputResponses?.roots
      ? text(mcpReq.inputResponses.roots)
      : inputRequired({ inputRequests: { roots: inputRequired.listRoots() } }),
  );
  server.registerTool('never', { inputSchema: z.object({}) }, async () =>
    inputRequired({ inputRequests: { roots: inputRequired.listRoots() } }),
  );
  server.registerTool('log', { inputSchema: z.object({}) }, async (_args, { mcpReq }) => {
    await mcpReq.log('info', 'all is well');
    return text('logged');
  });
  const marked = (name: unknown) => ({ type: 'string', 'x-mcp-header': name });
  const schema = { type: 'object', properties: { region: marked('Region'), plain: { type: 'string' } } };
  server.registerTool('marked', { inputSchema: fromJsonSchema(schema as never) }, async (args) => text(args));
  server.registerTool('wait', { inputSchema: z.object({}) }, (_args, { mcpReq }) => {
    return new Promise((resolve) => {
      mcpReq.signal.addEventListener('abort', () => {
        calls.dispatchEvent(new Event('taken back'));
        resolve(text('aborted'));
      });
    });
  });
  return server;
}
