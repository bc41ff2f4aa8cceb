import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__mail__send', { to: 'allowed' }),
  toolUse('mcp__mail__send', { to: 'changed' }),
  toolUse('mcp__mail__send', { to: 'kept' }),
  toolUse('mcp__mail__send', { to: 'denied' }),
  toolUse('mcp__mail__send', { to: 'thrown' }),
  toolUse('mcp__mail__send', { to: 'denied silently' }),
  text('Some were sent.'),
];

/** The callback may allow a call, change its input, deny it or throw; an exception denies. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: unknown[] = [];
  const asked: unknown[] = [];
  const send = sdk.tool('send', 'Send a mail', { to: z.string() }, async (args) => {
    calls.push(args);
    return { content: [{ type: 'text', text: `sent to ${args.to}` }] };
  });
  const mail = sdk.createSdkMcpServer({ name: 'mail', tools: [send] });
  const query = sdk.query({
    prompt: 'Send the mails.',
    options: {
      ...options(sandbox),
      mcpServers: { mail },
      canUseTool: async (toolName, input, { signal, requestId, ...rest }) => {
        asked.push({ toolName, input, isAborted: signal.aborted, hasRequestId: requestId !== '', ...rest });
        if (input.to === 'allowed') return { behavior: 'allow', updatedInput: input };
        if (input.to === 'changed') return { behavior: 'allow', updatedInput: { to: 'someone else' } };
        if (input.to === 'kept') return { behavior: 'allow', updatedInput: {} };
        if (input.to === 'denied') return { behavior: 'deny', message: 'not to them' };
        if (input.to === 'denied silently') return { behavior: 'deny' } as never;
        throw new Error('the callback broke');
      },
    },
  });
  const seen = await transcribe(query);
  return { calls, asked, seen, model: modelSide(sandbox) };
}
