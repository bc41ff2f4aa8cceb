import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__calc__root', { n: 'nine' }),
  toolUse('mcp__calc__root', {}),
  toolUse('mcp__calc__root', { n: 9, extra: true }),
  text('3.'),
];

/** Arguments that do not fit never reach the handler; unknown ones are dropped. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: unknown[] = [];
  const root = sdk.tool('root', 'Square root', { n: z.number().min(0) }, async (args) => {
    calls.push(args);
    return { content: [{ type: 'text', text: String(Math.sqrt(args.n)) }] };
  });
  const calc = sdk.createSdkMcpServer({ name: 'calc', tools: [root] });
  const query = sdk.query({
    prompt: 'Root of nine.',
    options: { ...options(sandbox), mcpServers: { calc }, allowedTools: ['mcp__calc'] },
  });
  const seen = await transcribe(query);
  return { calls, seen, model: modelSide(sandbox) };
}
