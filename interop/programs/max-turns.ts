import { toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** A model that never stops calling. */
export const script = () => toolUse('mcp__loop__again', {});

/** The limit ends the query with an error result that names it. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  let calls = 0;
  const again = sdk.tool('again', 'Again', {}, async () => {
    calls += 1;
    return { content: [{ type: 'text', text: `call ${calls}` }] };
  });
  const loop = sdk.createSdkMcpServer({ name: 'loop', tools: [again] });
  const query = sdk.query({
    prompt: 'Go on.',
    options: { ...options(sandbox), mcpServers: { loop }, allowedTools: ['mcp__loop'], maxTurns: 2 },
  });
  const seen = await transcribe(query);
  return { calls, seen, model: modelSide(sandbox) };
}
