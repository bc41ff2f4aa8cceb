import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__good__ping', {}), text('One of them works.')];

/** A server that cannot be started is reported as failed and does not affect others. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const ping = sdk.tool('ping', 'Ping', {}, async () => ({ content: [{ type: 'text', text: 'pong' }] }));
  const good = sdk.createSdkMcpServer({ name: 'good', tools: [ping] });
  const query = sdk.query({
    prompt: 'Ping.',
    options: {
      ...options(sandbox),
      mcpServers: { bad: { command: 'no-such-binary-anywhere', args: [] }, good },
      allowedTools: ['mcp__good'],
    },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
