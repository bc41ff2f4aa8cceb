import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { offeredTools, toolResults } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__calc__add', { a: 1, b: 2 }),
  toolUse('mcp__calc__double', { n: 3 }),
  toolUse('mcp__calc__late', {}),
  text('Done.'),
];

/** The instance of a server is an `McpServer`: tools that are registered on it, also during the query, are served. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const called: unknown[] = [];
  const add = sdk.tool('add', 'Adds', { a: z.number(), b: z.number() }, async ({ a, b }) => {
    called.push({ add: [a, b], isConnected: calc.instance.isConnected() });
    // The agent reads the list again during the next call, and the call after it uses the tool.
    calc.instance.tool('late', 'Registered late', async () => ({
      content: [{ type: 'text', text: 'late' }],
    }));
    return { content: [{ type: 'text', text: `${a + b}` }] };
  });
  const calc = sdk.createSdkMcpServer({ name: 'calc', version: '1.0.0', tools: [add] });
  const before = calc.instance.isConnected();
  calc.instance.registerTool(
    'double',
    { title: 'Doubler', description: 'Doubles', inputSchema: { n: z.number() } },
    async ({ n }, extra) => {
      called.push({ double: n, isAborted: extra.signal.aborted });
      return { content: [{ type: 'text', text: `${n * 2}` }] };
    },
  );
  const query = sdk.query({
    prompt: 'Calculate.',
    options: { ...options(sandbox), mcpServers: { calc }, allowedTools: ['mcp__calc'] },
  });
  const seen = await transcribe(query);
  const members = ['registerTool', 'tool', 'connect', 'close', 'registerResource', 'registerPrompt'] as const;
  return {
    keys: Object.keys(calc),
    members: members.map((name) => typeof calc.instance[name]),
    server: typeof calc.instance.server.setRequestHandler,
    connected: [before, calc.instance.isConnected()],
    called,
    seen,
    results: sandbox.api.requests.map(toolResults),
    offered: offeredTools(sandbox.api.requests[0]),
  };
}
