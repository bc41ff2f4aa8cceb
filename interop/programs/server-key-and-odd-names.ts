import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { offeredTools } from '../../test/support/model-api/model-view.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__Key__ping', {}),
  toolUse('mcp__my_server___do_it_', {}),
  text('Pinged both.'),
];

/** The key under which a server is given names it, not its own name; odd characters become underscores. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: string[] = [];
  const answer = (name: string) => async () => {
    calls.push(name);
    return { content: [{ type: 'text' as const, text: name }] };
  };
  const named = sdk.createSdkMcpServer({
    name: 'own-name',
    tools: [sdk.tool('ping', 'Ping', {}, answer('ping of own-name'))],
  });
  const odd = sdk.createSdkMcpServer({
    name: 'odd',
    instructions: 'Use it with care.',
    tools: [sdk.tool('do it!', 'Do it', {}, answer('do it of odd'))],
  });
  const query = sdk.query({
    prompt: 'Ping them.',
    options: {
      ...options(sandbox),
      mcpServers: { Key: named, 'my server!': odd },
      allowedTools: ['mcp__Key__ping', 'mcp__my_server___do_it_'],
    },
  });
  const seen = await transcribe(query);
  return { calls, seen, model: modelSide(sandbox), offered: offeredTools(sandbox.api.requests[0]) };
}
