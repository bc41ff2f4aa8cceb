import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__mail__send', {}), text('Never said.')];

/** An interrupt while the permission callback is asked ends the turn: nothing was denied, and the model is not asked again. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const send = sdk.tool('send', 'Send a mail', {}, async () => ({ content: [] }));
  const mail = sdk.createSdkMcpServer({ name: 'mail', tools: [send] });
  const events: string[] = [];
  const record = async ({ hook_event_name }: { hook_event_name: string }) => {
    events.push(hook_event_name);
    return {};
  };
  const query = sdk.query({
    prompt: 'Send it.',
    options: {
      ...options(sandbox),
      mcpServers: { mail },
      hooks: {
        PermissionDenied: [{ hooks: [record] }],
        PostToolUseFailure: [{ hooks: [record] }],
      },
      canUseTool: async (_tool, _input, { signal }) => {
        const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await query.interrupt();
        await aborted;
        events.push('aborted');
        return { behavior: 'deny', message: 'too late' };
      },
    },
  });
  const seen = await transcribe(query);
  return { seen, events, model: modelSide(sandbox) };
}
