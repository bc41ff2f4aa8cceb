import { z } from 'zod';
import { text, together, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  together(text('Let ', 'me ', 'see.'), toolUse('mcp__calc__negate', { n: 7 })),
  text('Minus ', 'seven.'),
];

/** With partial messages on, each event of the model's stream is passed on as it came. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const negate = sdk.tool('negate', 'Negate', { n: z.number() }, async ({ n }) => ({
    content: [{ type: 'text', text: String(-n) }],
  }));
  const calc = sdk.createSdkMcpServer({ name: 'calc', tools: [negate] });
  const query = sdk.query({
    prompt: 'Negate 7.',
    options: {
      ...options(sandbox),
      mcpServers: { calc },
      allowedTools: ['mcp__calc'],
      includePartialMessages: true,
    },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
