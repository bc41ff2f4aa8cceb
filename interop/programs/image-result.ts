import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__camera__snap', {}), text('One grey pixel.')];

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** An image beside a text reaches the model as an image. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const snap = sdk.tool('snap', 'Take a picture', {}, async () => ({
    content: [
      { type: 'text', text: 'Here it is:' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
    ],
  }));
  const camera = sdk.createSdkMcpServer({ name: 'camera', tools: [snap] });
  const query = sdk.query({
    prompt: 'What do you see?',
    options: { ...options(sandbox), mcpServers: { camera }, allowedTools: ['mcp__camera'] },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
