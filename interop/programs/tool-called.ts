import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { offeredTools } from '../../test/support/model-api/model-view.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__calc__add', { a: 2, b: 40 }), text('It is 42.')];

/** A function of this process is offered as a tool, called, and its result reaches the next request. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: unknown[] = [];
  const add = sdk.tool(
    'add',
    'Add two numbers',
    { a: z.number(), b: z.number().describe('the second') },
    async (args, extra) => {
      const { signal, _meta } = extra as { signal: AbortSignal; _meta: Record<string, unknown> };
      const toolUseId = _meta['claudecode/toolUseId'];
      calls.push({ args, toolUseId, isAborted: signal.aborted });
      return { content: [{ type: 'text', text: String(args.a + args.b) }] };
    },
    { annotations: { readOnlyHint: true, title: 'Adder' } },
  );
  const calc = sdk.createSdkMcpServer({ name: 'calc', version: '1.2.3', tools: [add] });
  const query = sdk.query({
    prompt: 'Add 2 and 40.',
    options: { ...options(sandbox), mcpServers: { calc }, allowedTools: ['mcp__calc__add'] },
  });
  const seen = await transcribe(query);
  return { calls, seen, model: modelSide(sandbox), offered: offeredTools(sandbox.api.requests[0]) };
}
