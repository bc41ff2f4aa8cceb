import { z } from 'zod';
import { text, together, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  together(
    text('Both at once.'),
    toolUse('mcp__calc__double', { n: 4 }),
    toolUse('mcp__calc__double', { n: 5 }),
  ),
  text('8 and 10.'),
];

/** Two calls in one message of the model: each gets its own result, in the order of the calls. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: unknown[] = [];
  const double = sdk.tool('double', 'Double a number', { n: z.number() }, async ({ n }) => {
    calls.push(n);
    return { content: [{ type: 'text', text: String(2 * n) }] };
  });
  const calc = sdk.createSdkMcpServer({ name: 'calc', tools: [double] });
  const query = sdk.query({
    prompt: 'Double 4 and 5.',
    options: { ...options(sandbox), mcpServers: { calc }, allowedTools: ['mcp__calc__double'] },
  });
  const seen = await transcribe(query);
  return { calls, seen, model: modelSide(sandbox) };
}
