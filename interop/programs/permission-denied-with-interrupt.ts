import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__mail__send', {}), text('Never said.')];

/** A refusal that interrupts ends the turn: the model is not asked again. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const send = sdk.tool('send', 'Send a mail', {}, async () => ({ content: [] }));
  const mail = sdk.createSdkMcpServer({ name: 'mail', tools: [send] });
  const query = sdk.query({
    prompt: 'Send it.',
    options: {
      ...options(sandbox),
      mcpServers: { mail },
      canUseTool: async () => ({ behavior: 'deny', message: 'stop here', interrupt: true }),
    },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
